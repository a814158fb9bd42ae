// mmap(2) of BPF maps; see mapped_memory.h.

#include "read/mapped_memory.h"

#include <sys/mman.h>

#include <utility>

namespace flowtap {

Result<MappedMemory> MappedMemory::open(int fd, size_t size, int protection, size_t offset) {
  void* data = ::mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return errno_error("cannot map the memory of a BPF map");
  MappedMemory mapped;
  mapped.data_ = static_cast<std::byte*>(data);
  mapped.size_ = size;
  return mapped;
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept { *this = std::move(other); }

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace flowtap
