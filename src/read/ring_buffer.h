#pragma once
// RingBuffer: the records that programs have written, in the order they were reserved.

#include <cstddef>
#include <functional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "read/mapped_memory.h"

namespace flowtap {

class RingBuffer {
 public:
  // Called with each record; the bytes are good until it returns.
  using Take = std::function<void(Bytes record)>;

  static Result<RingBuffer> open(int map_fd, Take take);

  // Readable when there is a record; for epoll.
  int wait_fd() const { return map_fd_; }
  // Hands over what is there, up to a bound, so that a flood cannot keep the caller forever. True
  // when records were left.
  bool consume();
  // Bytes that programs have written since the beginning, and those of them that were consumed.
  uint64_t written() const;
  uint64_t consumed() const;
  // For the function that takes records: this one took long, so consume() shall return after it.
  void pause() { is_paused_ = true; }
  // Whether the last consume() handed over anything.
  bool has_taken() const { return taken_ > 0; }

 private:
  RingBuffer() = default;
  Bytes record_at(uint64_t position, uint32_t size);

  int map_fd_ = -1;
  Take take_;
  uint32_t taken_ = 0;
  bool is_paused_ = false;
  uint64_t mask_ = 0;      // the buffer's size less one
  MappedMemory consumer_;  // how far we have read: one page, ours to write
  MappedMemory producer_;  // how far programs have written: one page, and the buffer after it
  std::vector<std::byte> joined_;
};

}  // namespace flowtap
