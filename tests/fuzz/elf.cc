// Bytes -> an ELF file, its symbols, notes and USDT probes.

#include "symbols/elf_file.h"

#include "support.h"
#include "symbols/symbol_table.h"
#include "symbols/usdt_notes.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  Result<ElfFile> file = ElfFile::from_memory({text.begin(), text.end()}, "fuzz");
  if (!file) return 0;
  file->section(".text");
  for (uint64_t address : {uint64_t{0}, uint64_t{0x1000}, UINT64_MAX}) {
    file->offset_of(address);
    file->code_offset(address);
    file->address_of(address);
  }
  size_t length = 0;  // names are read, not only passed on
  Status symbols =
      file->visit_symbols([&](const ElfSymbol& s) { length += std::string(s.name).size(); });
  length += file->functions().found.size();
  file->find_object("environ");
  file->hash_of_symbols();
  SymbolTable table = SymbolTable::from_elf(*file);
  table.find(0x1000);
  Result<std::vector<UsdtProbe>> probes = read_usdt_probes(*file);
  if (probes)
    for (const UsdtProbe& probe : *probes) length += probe.name.size() + probe.args.size();
  return 0;
}
