#pragma once
// A program's debug information, open for reading with libdw. It is in the file itself, or in the
// separate file of its debug package, whose parts that several have in common may be in a third.

#include <elfutils/libdw.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "symbols/elf_file.h"

namespace flowtap {

class DwarfFile {
 public:
  static Result<DwarfFile> open(const std::string& path);

  // Stops when the visitor answers false.
  void visit_units(const std::function<bool(Dwarf_Die&)>& visit) const;
  // Functions with code, the same.
  void visit_functions(Dwarf_Die& unit, const std::function<bool(Dwarf_Die&)>& visit) const;
  // The unit whose code holds the address, if there is an index of that.
  std::optional<Dwarf_Die> unit_at(uint64_t address) const;

 private:
  struct EndElf {
    void operator()(Elf* elf) const;
  };
  struct EndDwarf {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };

  // Nothing when there is none in it.
  static Result<std::optional<DwarfFile>> read(const std::string& path);
  void load(ElfFile file);
  void find_common(const std::string& name, const std::string& build_id);
  Result<bool> has_units() const;

  std::unique_ptr<ElfFile> file_;  // has the bytes that the others refer to
  std::unique_ptr<Elf, EndElf> elf_;
  std::unique_ptr<DwarfFile> common_;
  std::unique_ptr<Dwarf, EndDwarf> dwarf_;
};

}  // namespace flowtap
