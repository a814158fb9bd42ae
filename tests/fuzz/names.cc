// Texts that traced programs bring along: mangled names, perf maps, /proc/PID/maps, their code.

#include "arch/x86_length.h"
#include "support.h"
#include "symbols/demangle.h"
#include "symbols/linker_cache.h"
#include "symbols/process_maps.h"
#include "symbols/symbol_table.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  uint8_t what = input.u8();
  std::string text(fuzz::text_of(data + (size > 0), size - (size > 0)));
  switch (what % 6) {
    case 0: demangle(text); break;
    case 1: demangle("_R" + text); break;
    case 2: demangle("_ZN" + text + "17h0123456789abcdefE"); break;
    case 3: {
      Result<SymbolTable> table = SymbolTable::from_perf_map(text);
      if (table) table->find(0x1000);
      break;
    }
    case 4:
      parse_maps(text);
      parse_linker_cache(text);
      break;
    case 5: {
      Bytes code = std::as_bytes(std::span(text));
      std::optional<uint32_t> length = x86_instruction_length(code);
      CHECK(!length || (*length > 0 && *length <= code.size() && *length <= 15));
      if (!text.empty()) x86_instruction_start(code, text.size() - 1);
      break;
    }
  }
  demangled_matches(text, "a*::b<*>(int)");
  return 0;
}
