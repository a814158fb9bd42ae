// Whole files in memory. Ways in: FileBytes::open(), open_vmlinux().
// /sys/kernel/btf/vmlinux can be mapped since Linux 6.16, which saves copying five megabytes at
// every start; before that, and for modules, mmap says ENODEV. Reading gives no more than a page at
// a time, but bpf(2) gives the same bytes at once.

#include "live/file_bytes.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <new>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace flowtap {

// With -1 for a file, memory that is not filled yet; a vector would be filled with zeros first.
FileBytes FileBytes::map(int fd, size_t size) {
  FileBytes file;
  int access = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
  void* mapping = size ? ::mmap(nullptr, size, access, flags, fd, 0) : MAP_FAILED;
  // As when new fails: for lack of memory types would seem not to be there.
  if (mapping == MAP_FAILED && size && errno == ENOMEM) throw std::bad_alloc();
  if (mapping == MAP_FAILED) return file;
  file.memory_ = static_cast<std::byte*>(mapping);
  file.size_ = file.mapped_ = size;
  return file;
}

Result<FileBytes> FileBytes::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!fd.valid() || ::fstat(fd.get(), &info) < 0)
    return errno_error(fmt::format("cannot open '{}'", path));
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return FileBytes();
  FileBytes file = map(-1, size);
  if (!file.memory_) return errno_error(fmt::format("cannot read '{}'", path));
  file.size_ = 0;
  while (file.size_ < size) {
    ssize_t n = ::read(fd.get(), file.memory_ + file.size_, size - file.size_);
    if (n < 0) return errno_error(fmt::format("cannot read '{}'", path));
    if (n == 0) break;
    file.size_ += static_cast<size_t>(n);
  }
  return file;
}

// Nobody may ask without CAP_SYS_ADMIN, and a kernel that no program has used its types of yet has
// none to give. Theirs are the first id.
Result<FileBytes> FileBytes::open_vmlinux(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat on_disk;
  if (!file.valid() || ::fstat(file.get(), &on_disk) < 0) return open(path);
  size_t size = static_cast<size_t>(on_disk.st_size);
  if (FileBytes mapped = map(file.get(), size); mapped.memory_) return mapped;
  Fd btf(::bpf_btf_get_fd_by_id(1));
  FileBytes bytes = map(-1, size);
  char name[16] = {};
  bpf_btf_info info = {.btf = reinterpret_cast<uint64_t>(bytes.memory_),
                       .btf_size = static_cast<uint32_t>(size),
                       .name = reinterpret_cast<uint64_t>(name),
                       .name_len = sizeof name};
  uint32_t room = sizeof info;
  bool is_given = btf.valid() && bytes.memory_ &&
                  ::bpf_obj_get_info_by_fd(btf.get(), &info, &room) == 0 && info.kernel_btf &&
                  info.btf_size == size && std::string_view(name) == "vmlinux";
  return is_given ? Result<FileBytes>(std::move(bytes)) : open(path);
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

FileBytes::~FileBytes() {
  if (memory_) ::munmap(memory_, mapped_);
}

}  // namespace flowtap
