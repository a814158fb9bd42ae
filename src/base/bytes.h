#pragma once
// Reading and writing integers in raw bytes: the only place where layout meets C++ types.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/check.h"

namespace flowtap {

using Bytes = std::span<const std::byte>;

template <typename T>
T load(Bytes bytes, size_t offset = 0) {
  CHECK(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void store(std::span<std::byte> bytes, size_t offset, T value) {
  CHECK(offset + sizeof(T) <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// An integer of 1, 2, 4 or 8 bytes, extended to 64 bits.
inline int64_t load_int(Bytes bytes, size_t size, bool is_signed) {
  uint64_t raw = 0;
  CHECK(size <= 8 && size <= bytes.size());
  std::memcpy(&raw, bytes.data(), size);
  if (is_signed && size > 0 && size < 8) {
    int shift = static_cast<int>(64 - size * 8);
    return static_cast<int64_t>(raw << shift) >> shift;
  }
  return static_cast<int64_t>(raw);
}

constexpr uint64_t align_up(uint64_t n, uint64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

}  // namespace flowtap
