#pragma once
// RingBuffer: the records that programs have written, in the order they were reserved.

#include <functional>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

struct ring_buffer;  // libbpf's

namespace flowtap {

class RingBuffer {
 public:
  // Called with each record; the bytes are good until it returns.
  using Take = std::function<void(Bytes record)>;

  static Result<RingBuffer> open(int map_fd, Take take);

  // Readable when there is a record; for epoll.
  int wait_fd() const;
  // Hands over what is there, up to a bound, so that a flood cannot keep the caller forever. True
  // when records were left.
  Result<bool> consume();
  // Whether the last consume() handed over anything.
  bool has_taken() const { return state_->taken > 0; }

 private:
  struct State {
    Take take;
    uint32_t taken = 0;
  };
  struct Free {
    void operator()(::ring_buffer* buffer) const;
  };
  static int on_record(void* state, void* data, size_t size);

  RingBuffer() = default;

  std::unique_ptr<State> state_;
  std::unique_ptr<::ring_buffer, Free> buffer_;
};

}  // namespace flowtap
