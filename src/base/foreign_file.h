#pragma once
// ForeignFile: a file that another user may have written, and may change while we read it. Opening
// one never waits and never reaches a device; reading is bounded and cannot be cut short by
// SIGBUS, as a mapping can.

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

// What no other file has at the same time, and a changed or rebuilt one no longer has: inode
// numbers are used again, but nobody can choose the time of the last change (ctime).
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t changed_ns = 0, written_ns = 0;

  auto operator<=>(const FileIdentity&) const = default;
  // Nobody has changed it; an overlay file system has a device number of its own.
  bool is_unchanged(const FileIdentity& other) const;
  // Perhaps only its names or its permissions were changed, which ctime shows too. No proof that
  // nobody wrote to it: anybody can set the time of the last write.
  bool may_have_same_content(const FileIdentity& other) const;
};

FileIdentity identity_of(const struct stat& info);

enum class Links { Follow, Refuse };  // of the last part of a path

class ForeignFile {
 public:
  // Only regular files.
  static Result<ForeignFile> open(const std::string& path, Links links = Links::Follow);

  const std::string& path() const { return path_; }
  // From now on it goes by this path, if that leads to the same file.
  bool take_path(const std::string& path);
  const struct stat& info() const { return info_; }  // as it was when opened
  uint64_t size() const { return static_cast<uint64_t>(info_.st_size); }

  // Exactly these bytes; an error when the file has not as many, or a signal leaves no time.
  Result<std::vector<char>> read(uint64_t offset, uint64_t size) const;
  // The whole file, as long as it has at most `limit` bytes.
  Result<std::vector<char>> read_all(uint64_t limit) const;

 private:
  std::string path_;
  Fd fd_;
  struct stat info_ = {};
};

}  // namespace flowtap
