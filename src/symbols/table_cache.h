#pragma once
// TableCache: symbol tables of files, by what no other file has in common. Those that were not used
// for longest are dropped when all of them together take too much memory.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/foreign_file.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"

namespace flowtap {

// The functions of a program or library, or of a perf map, which has no segments.
struct NamedCode {
  SymbolTable table;
  std::vector<ElfSegment> segments;

  std::optional<uint64_t> address_of(uint64_t file_offset) const;
  size_t bytes() const { return table.bytes() + segments.capacity() * sizeof(ElfSegment); }
};

class TableCache {
 public:
  static constexpr size_t kMostBytes = 512 << 20;

  explicit TableCache(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  using Code = std::shared_ptr<const NamedCode>;  // null: there is nothing to read in the file

  // Null: the file is not known. The pointer is good until the next change.
  const Code* find(const FileIdentity& file);
  void add(const FileIdentity& file, Code code);
  void remove(const FileIdentity& file);
  void clear() { *this = TableCache(most_bytes_); }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Code code;
    uint64_t last_use = 0;
  };

  static size_t bytes_of(const Entry& entry);

  size_t most_bytes_;
  size_t bytes_ = 0;
  uint64_t uses_ = 0;
  std::map<FileIdentity, Entry> entries_;
};

}  // namespace flowtap
