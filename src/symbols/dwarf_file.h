#pragma once
// A program's debug information, open for reading with libdw. It is in the file itself, or in the
// separate file of its debug package.

#include <elfutils/libdw.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

class DwarfFile {
 public:
  static Result<DwarfFile> open(const std::string& path);

  // Stops when the visitor answers false.
  void visit_units(const std::function<bool(Dwarf_Die&)>& visit) const;
  // The unit whose code holds the address, if there is an index of that.
  std::optional<Dwarf_Die> unit_at(uint64_t address) const;

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };

  bool has_units() const;

  Fd fd_;
  std::unique_ptr<Dwarf, End> dwarf_;
};

}  // namespace flowtap
