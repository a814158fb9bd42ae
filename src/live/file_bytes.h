#pragma once
// FileBytes: the whole of a file, copied; a mapping of one that somebody cuts short would kill us.
// The kernel's own types, which nobody can cut, are mapped or asked for instead.

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace flowtap {

class FileBytes {
 public:
  static Result<FileBytes> open(const std::string& path);
  // The types of the kernel itself; `path` is where they are found as a file.
  static Result<FileBytes> open_vmlinux(const std::string& path);

  FileBytes() = default;
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&& other) noexcept;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  Bytes bytes() const { return {memory_, size_}; }

 private:
  static FileBytes map(int fd, size_t size);

  std::byte* memory_ = nullptr;
  size_t size_ = 0, mapped_ = 0;
};

}  // namespace flowtap
