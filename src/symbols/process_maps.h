#pragma once
// What /proc says about a process: which files are mapped where, and how its world differs from
// ours (another root directory, other process ids).

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

// One executable range of a process.
struct Mapping {
  uint64_t begin = 0, end = 0;
  uint64_t file_offset = 0;
  uint64_t device = 0, inode = 0;  // 0: no file
  std::string path;                // "/usr/bin/ls", "[vdso]", or empty; without " (deleted)"
  bool is_deleted = false;

  bool is_file() const { return inode != 0 && path.starts_with('/'); }
};

// The executable lines of a /proc/PID/maps text, in their order: by address.
std::vector<Mapping> parse_maps(std::string_view text);

// Addresses that the kernel chooses when a process calls exec. Zeros when it has gone, or we may
// not know.
struct ProcessLayout {
  uint64_t stack_start = 0;
  uint64_t code_end = 0;
  bool operator==(const ProcessLayout&) const = default;
};

// From a /proc/PID/stat text.
ProcessLayout parse_layout(std::string_view stat);

// A process seen through /proc, or through a directory like it in tests.
class ProcessFiles {
 public:
  explicit ProcessFiles(pid_t pid, const std::string& proc = "/proc")
      : pid_(pid), directory_(proc + "/" + std::to_string(pid)), proc_(proc) {}

  // Empty when the process has gone.
  std::vector<Mapping> executable_mappings() const;
  ProcessLayout layout() const;
  // A path of the process as we must open it: "/proc/12/root/usr/bin/ls".
  std::string path_from_here(const std::string& path) const { return directory_ + "/root" + path; }
  // The same file system as ours: paths need no translation.
  bool shares_our_root() const;
  // Its id as itself sees it: the innermost of its pid namespaces.
  pid_t inner_pid() const;
  // Where we can open the file behind a mapping. One that was deleted, or that no
  // path leads to, needs CAP_SYS_ADMIN.
  std::string file_of(const Mapping& mapping) const;

 private:
  std::string link_to_mapped(const Mapping& mapping) const;

  pid_t pid_;
  std::string directory_;
  std::string proc_;
};

}  // namespace flowtap
