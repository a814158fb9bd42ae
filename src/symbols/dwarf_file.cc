// Opening debug information; see dwarf_file.h.

#include "symbols/dwarf_file.h"

#include <fcntl.h>

#include <vector>

#include "symbols/elf_file.h"

namespace flowtap {

Result<DwarfFile> DwarfFile::open(const std::string& path) {
  Result<ElfFile> elf = ElfFile::open(path);
  if (!elf) return elf.error();
  std::vector<std::string> files = elf->debug_files();
  files.insert(files.begin(), path);
  for (const std::string& file : files) {
    DwarfFile info;
    info.fd_ = Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!info.fd_.valid()) continue;
    info.dwarf_.reset(::dwarf_begin(info.fd_.get(), DWARF_C_READ));
    if (info.dwarf_ && info.has_units()) return info;
  }
  return Error{"'" + path + "' has no debug information", 0,
               "compile it with -g, or install its debug package"};
}

void DwarfFile::visit_units(const std::function<bool(Dwarf_Die&)>& visit) const {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (::dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    if (!visit(die)) return;
}

std::optional<Dwarf_Die> DwarfFile::unit_at(uint64_t address) const {
  Dwarf_Die unit;
  if (!::dwarf_addrdie(dwarf_.get(), address, &unit)) return std::nullopt;
  return unit;
}

bool DwarfFile::has_units() const {
  bool has_any = false;
  visit_units([&](Dwarf_Die&) {
    has_any = true;
    return false;
  });
  return has_any;
}

}  // namespace flowtap
