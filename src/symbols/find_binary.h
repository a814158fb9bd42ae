#pragma once
// From what a probe calls a binary ("/usr/sbin/nginx", "./build/*", "libssl", "bash") to files.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowtap {

// Where names without a '/' are looked for.
struct BinaryPlaces {
  std::vector<std::string> program_directories;
  std::string linker_cache;
  std::vector<std::string> library_directories;  // when the cache does not know
  std::string proc = "/proc";

  // PATH, /etc/ld.so.cache and the usual directories.
  static BinaryPlaces usual();
};

// All files that `target` means, the best first; never an empty list. With a pid, names are looked
// up as that process would, and files in another root come as /proc/PID/root/...; "*" then means
// all that it has mapped, as "" does. Without one "*" means what any process has mapped.
Result<std::vector<std::string>> find_binaries(std::string_view target,
                                               std::optional<pid_t> pid = std::nullopt,
                                               const BinaryPlaces& places = BinaryPlaces::usual());

// The program and the libraries that a process executes, as we can open them, by address.
Result<std::vector<std::string>> mapped_binaries(pid_t pid, const std::string& proc = "/proc");

}  // namespace flowtap
