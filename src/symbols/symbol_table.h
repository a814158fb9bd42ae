#pragma once
// SymbolTable: the functions of one binary or one just-in-time compiler, by address. Small, since
// a system-wide trace holds dozens of them: 16 bytes and the name for each function.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf_file.h"

namespace flowtap {

struct FoundSymbol {
  std::string_view name;  // mangled; lives as long as the table
  uint64_t offset = 0;
};

class SymbolTable {
 public:
  // Functions of a file, by the addresses in the file; each address under its best name. `status`
  // says which are left out.
  static SymbolTable from_elf(const ElfFile& file, Status* status = nullptr);
  // A perf map, by addresses in the process: lines of "BEGIN SIZE NAME", numbers in hex. An error
  // when it is too long: later lines replace earlier ones, so that a part of it is of no use.
  static Result<SymbolTable> from_perf_map(std::string_view text);
  bool has_long_lines() const { return has_long_lines_; }  // in the perf map; they are left out

  std::optional<FoundSymbol> find(uint64_t address) const;
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return entries_.capacity() * sizeof(Entry) + names_.capacity(); }

 private:
  struct Entry {
    uint64_t address;
    uint32_t size;  // 0: up to the next entry
    uint32_t name;  // offset in names_
  };

  std::vector<Entry> entries_;  // by address, no address twice
  std::string names_;           // each with its NUL
  bool has_long_lines_ = false;
};

}  // namespace flowtap
