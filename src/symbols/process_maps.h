#pragma once
// What /proc says about a process: which files are mapped where, and how its world differs from
// ours (another root directory, other process ids).

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/foreign_file.h"
#include "base/result.h"

namespace flowtap {

// One executable range of a process.
struct Mapping {
  uint64_t begin = 0, end = 0;
  uint64_t file_offset = 0;
  uint64_t device = 0, inode = 0;  // 0: no file
  std::string path;                // "/usr/bin/ls", "[vdso]", or empty; without " (deleted)"
  bool is_deleted = false;

  bool is_file() const { return inode != 0 && path.starts_with('/'); }
  bool operator==(const Mapping&) const = default;
};

// The executable lines of a /proc/PID/maps text, in their order: by address. No more than any
// honest process has.
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

// Who a process is. Its number alone is given to others later, and another program may have been
// started in it by exec.
struct ProcessImage {
  uint64_t started = 0;  // clock ticks since the machine was started
  ProcessLayout layout;
  bool operator==(const ProcessImage&) const = default;
};

// From the same text.
ProcessImage parse_image(std::string_view stat);

// What its /proc/PID/status says.
struct ProcessStatus {
  pid_t inner_pid = 0;            // as the process itself sees it: in the innermost namespace
  std::optional<uid_t> uid = {};  // the effective one, which its files belong to
};
ProcessStatus parse_status(std::string_view status);

// A process seen through /proc, or through a directory like it in tests.
class ProcessFiles {
 public:
  explicit ProcessFiles(pid_t pid, const std::string& proc = "/proc")
      : pid_(pid), directory_(proc + "/" + std::to_string(pid)), proc_(proc) {}

  // Empty when the process has gone.
  std::vector<Mapping> executable_mappings() const;
  ProcessLayout layout() const { return image().layout; }
  ProcessImage image() const;
  ProcessStatus status() const;
  // A path of the process as we must open it: "/proc/12/root/usr/bin/ls".
  std::string path_from_here(const std::string& path) const { return directory_ + "/root" + path; }
  // The same file system as ours: paths need no translation.
  bool shares_our_root() const;
  // Where we can open the file behind a mapping. One that was deleted, or that no
  // path leads to, needs CAP_SYS_ADMIN.
  std::string file_of(const Mapping& mapping) const;
  // Which file is mapped. Nothing when that cannot be told, though a file of that name may be
  // there.
  std::optional<FileIdentity> identity_of_mapped(const Mapping& mapping) const;
  // The very file that is mapped, and no other that has got its name since; `known` is what it was
  // seen to be before. When its names or permissions were changed since, it may have been written
  // to as well: then its symbols must be the same.
  Result<ForeignFile> open_mapped(const Mapping& mapping, const std::optional<FileIdentity>& known,
                                  std::optional<uint64_t> symbols = std::nullopt) const;
  // ElfFile::hash_of_symbols() of the file that is mapped, if it is the one that is known.
  std::optional<uint64_t> symbols_of_mapped(const Mapping& mapping,
                                            const FileIdentity& known) const;

 private:
  std::string link_to_mapped(const Mapping& mapping) const;
  std::vector<std::string> places_of(const Mapping& mapping) const;

  pid_t pid_;
  std::string directory_;
  std::string proc_;
};

}  // namespace flowtap
