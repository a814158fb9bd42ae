#pragma once
// The dynamic linker's index of libraries, /etc/ld.so.cache.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

struct CachedLibrary {
  std::string name;  // "libc.so.6"
  std::string path;  // "/usr/lib/libc.so.6"
};

// The libraries for this machine's programs, in the cache's order. Empty for anything that is not
// a cache of the format "glibc-ld.so.cache1.1".
std::vector<CachedLibrary> parse_linker_cache(std::string_view content);

// Does a script's short name mean this library? "libc" and "libc.so" mean every "libc.so.N",
// "libc.so.6" only itself.
bool is_library_named(std::string_view library, std::string_view wanted);

}  // namespace flowtap
