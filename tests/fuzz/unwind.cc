// Bytes -> the rows of an .eh_frame section, which must be sorted and differ from their neighbours.

#include "symbols/unwind_table.h"

#include "base/check.h"
#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (uint64_t address : {uint64_t{0}, uint64_t{0x2000}, uint64_t{UINT32_MAX}}) {
    Result<std::vector<UnwindRow>> parsed =
        parse_eh_frame(std::as_bytes(std::span(data, size)), address, host_arch().unwind);
    if (!parsed) continue;
    const std::vector<UnwindRow>& rows = *parsed;
    for (size_t i = 1; i < rows.size(); i++) {
      CHECK(rows[i - 1].address < rows[i].address);
      CHECK(rows[i - 1].rule != rows[i].rule);
    }
  }
  return 0;
}
