#pragma once
// FileBytes: the whole of a file, mapped where the kernel allows it and read where it does not.

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace flowtap {

class FileBytes {
 public:
  static Result<FileBytes> open(const std::string& path);

  FileBytes() = default;
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&& other) noexcept;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  Bytes bytes() const { return mapping_ ? Bytes(mapping_, size_) : Bytes(copy_); }

 private:
  const std::byte* mapping_ = nullptr;
  size_t size_ = 0;
  std::vector<std::byte> copy_;
};

}  // namespace flowtap
