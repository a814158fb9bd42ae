// Reads /etc/ld.so.cache as glibc 2.2 and later write it. Way in: parse_linker_cache().
//
//   0                          20       24        28                     48
//   | "glibc-ld.so.cache1.1"   | count  | strings | flags, extensions... | entries, strings |
//
//   entry, 24 bytes:   | flags u32 | name u32 | path u32 | os u32 | hardware u64 |
//
// Flags: the low byte says ELF library of glibc, the next for which of the machine's kinds of
// program. Name and path are offsets of NUL-terminated strings, counted from the header. Before
// glibc 2.32 the same header could follow a cache of the older format in the same file.

#include "symbols/linker_cache.h"

#include <optional>

#include "arch/arch.h"
#include "base/bytes.h"

namespace flowtap {

static constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
static constexpr size_t kHeaderSize = 48;
static constexpr size_t kEntrySize = 24;

static std::optional<std::string> string_at(std::string_view cache, uint32_t offset) {
  if (offset >= cache.size()) return std::nullopt;
  std::string_view text = cache.substr(offset);
  size_t end = text.find('\0');
  if (end == text.npos || end == 0) return std::nullopt;
  return std::string(text.substr(0, end));
}

std::vector<CachedLibrary> parse_linker_cache(std::string_view content) {
  std::vector<CachedLibrary> libraries;
  size_t begin = content.find(kMagic);
  if (begin == content.npos || content.size() - begin < kHeaderSize) return libraries;
  std::string_view cache = content.substr(begin);
  Bytes bytes = std::as_bytes(std::span(cache));
  uint32_t count = load<uint32_t>(bytes, kMagic.size());
  for (size_t at = kHeaderSize; count > 0 && at + kEntrySize <= cache.size();
       at += kEntrySize, count--) {
    if (load<uint32_t>(bytes, at) != host_arch().linker_cache_flags) continue;
    std::optional<std::string> name = string_at(cache, load<uint32_t>(bytes, at + 4));
    std::optional<std::string> path = string_at(cache, load<uint32_t>(bytes, at + 8));
    if (name && path) libraries.push_back({std::move(*name), std::move(*path)});
  }
  return libraries;
}

bool is_library_named(std::string_view library, std::string_view wanted) {
  if (library == wanted) return true;
  if (!library.starts_with(wanted)) return false;
  std::string_view rest = library.substr(wanted.size());
  if (wanted.ends_with(".so")) return rest.starts_with('.');
  return rest == ".so" || rest.starts_with(".so.");
}

}  // namespace flowtap
