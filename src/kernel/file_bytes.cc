// Whole files in memory. Way in: FileBytes::open().
// /sys/kernel/btf/vmlinux can be mapped since Linux 6.16, which saves copying five megabytes at
// every start; before that, and for modules, mmap says ENODEV and the bytes are read.

#include "kernel/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "base/fd.h"

namespace flowtap {

Result<FileBytes> FileBytes::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!fd.valid() || ::fstat(fd.get(), &info) < 0)
    return errno_error(fmt::format("cannot open '{}'", path));

  FileBytes file;
  size_t size = static_cast<size_t>(info.st_size);
  void* mapping = size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0) : MAP_FAILED;
  if (mapping != MAP_FAILED) {
    file.mapping_ = static_cast<const std::byte*>(mapping);
    file.size_ = size;
    return file;
  }
  file.copy_.resize(size);
  size_t filled = 0;
  while (filled < size) {
    ssize_t n = ::read(fd.get(), file.copy_.data() + filled, size - filled);
    if (n < 0) return errno_error(fmt::format("cannot read '{}'", path));
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  file.copy_.resize(filled);
  return file;
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      copy_(std::move(other.copy_)) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(copy_, other.copy_);
  return *this;
}

FileBytes::~FileBytes() {
  if (mapping_) ::munmap(const_cast<std::byte*>(mapping_), size_);
}

}  // namespace flowtap
