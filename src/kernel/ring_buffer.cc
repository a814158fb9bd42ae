// The ring buffer, through libbpf's reader; see ring_buffer.h.

#include "kernel/ring_buffer.h"

#include <bpf/libbpf.h>

namespace flowtap {

static constexpr uint32_t kRecordsAtOnce = 16384;
static constexpr int kEnough = -ECANCELED;  // told to libbpf, which hands it back

void RingBuffer::Free::operator()(::ring_buffer* buffer) const { ::ring_buffer__free(buffer); }

int RingBuffer::on_record(void* context, void* data, size_t size) {
  State& state = *static_cast<State*>(context);
  state.take(Bytes(static_cast<const std::byte*>(data), size));
  return ++state.taken < kRecordsAtOnce ? 0 : kEnough;
}

Result<RingBuffer> RingBuffer::open(int map_fd, Take take) {
  ::libbpf_set_print(nullptr);  // errors come back to us, and that is enough
  RingBuffer ring;
  ring.state_ = std::make_unique<State>(State{.take = std::move(take)});
  ring.buffer_.reset(::ring_buffer__new(map_fd, on_record, ring.state_.get(), nullptr));
  if (!ring.buffer_) return errno_error("cannot map the ring buffer");
  return ring;
}

int RingBuffer::wait_fd() const { return ::ring_buffer__epoll_fd(buffer_.get()); }

Result<bool> RingBuffer::consume() {
  state_->taken = 0;
  int result = ::ring_buffer__consume(buffer_.get());
  if (result == kEnough) return true;
  if (result < 0) return Error{"cannot read the ring buffer", -result};
  return false;
}

}  // namespace flowtap
