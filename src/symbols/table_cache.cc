// A cache of symbol tables; see table_cache.h.

#include "symbols/table_cache.h"

#include <algorithm>

namespace flowtap {

std::optional<uint64_t> NamedCode::address_of(uint64_t file_offset) const {
  for (const ElfSegment& segment : segments)
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_size)
      return file_offset - segment.file_offset + segment.address;
  return std::nullopt;
}

size_t TableCache::bytes_of(const Entry& entry) {
  constexpr size_t kOfAnyEntry = 4096;  // also that of a file without symbols
  return kOfAnyEntry + (entry.code ? entry.code->bytes() : 0);
}

const TableCache::Code* TableCache::find(const FileIdentity& file) {
  auto found = entries_.find(file);
  if (found == entries_.end()) return nullptr;
  found->second.last_use = ++uses_;
  return &found->second.code;
}

void TableCache::remove(const FileIdentity& file) {
  auto found = entries_.find(file);
  if (found == entries_.end()) return;
  bytes_ -= bytes_of(found->second);
  entries_.erase(found);
}

void TableCache::add(const FileIdentity& file, Code code) {
  remove(file);
  Entry entry{std::move(code), ++uses_};
  bytes_ += bytes_of(entry);
  entries_.emplace(file, std::move(entry));
  auto older = [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; };
  while (bytes_ > most_bytes_ && entries_.size() > 1)
    remove(std::min_element(entries_.begin(), entries_.end(), older)->first);
}

}  // namespace flowtap
