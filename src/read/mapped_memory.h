#pragma once
// MappedMemory: pages of a BPF map that are in our memory too, for as long as this lives.

#include <cstddef>
#include <span>

#include "base/result.h"

namespace flowtap {

class MappedMemory {
 public:
  MappedMemory() = default;
  static Result<MappedMemory> open(int fd, size_t size, int protection, size_t offset);
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  ~MappedMemory();

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace flowtap
