// Reading a BPF ring buffer. Ways in: open(), consume().
//
// The kernel offers three things to map: a page with our position, a page with the programs', and
// the buffer, twice in a row so that a record which passes the end can be read in one piece.
//
//   | consumer | producer | buffer ............ | the buffer again ... |
//                           | length | page | record, to a multiple of 8 | length | ...
//
// Every page mapped counts as memory of ours, so the second copy is left out, and the one record
// in thousands that passes the end is put together here.

#include "read/ring_buffer.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/page.h"
namespace flowtap {

static constexpr uint32_t kRecordsAtOnce = 16384;

Result<RingBuffer> RingBuffer::open(int map_fd, Take take) {
  bpf_map_info info = {};
  uint32_t info_size = sizeof(info);
  if (::bpf_obj_get_info_by_fd(map_fd, &info, &info_size) < 0)
    return errno_error("cannot ask for the size of the ring buffer");
  if (info.type != BPF_MAP_TYPE_RINGBUF) return Error{"this is no ring buffer", EINVAL};

  size_t page = page_size();
  Result<MappedMemory> consumer = MappedMemory::open(map_fd, page, PROT_READ | PROT_WRITE, 0);
  if (!consumer) return consumer.error();
  Result<MappedMemory> producer =
      MappedMemory::open(map_fd, page + info.max_entries, PROT_READ, page);
  if (!producer) return producer.error();

  RingBuffer ring;
  ring.map_fd_ = map_fd;
  ring.take_ = std::move(take);
  ring.mask_ = info.max_entries - 1;
  ring.consumer_ = std::move(*consumer);
  ring.producer_ = std::move(*producer);
  return ring;
}

Bytes RingBuffer::record_at(uint64_t position, uint32_t size) {
  const std::byte* buffer = producer_.data() + page_size();
  uint64_t begin = position & mask_, before_end = mask_ + 1 - begin;
  if (size <= before_end) return Bytes(buffer + begin, size);
  joined_.resize(size);
  std::memcpy(joined_.data(), buffer + begin, before_end);
  std::memcpy(joined_.data() + before_end, buffer, size - before_end);
  return joined_;
}

uint64_t RingBuffer::written() const {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(producer_.data()), __ATOMIC_ACQUIRE);
}

uint64_t RingBuffer::consumed() const { return *reinterpret_cast<uint64_t*>(consumer_.data()); }

bool RingBuffer::consume() {
  const std::byte* buffer = producer_.data() + page_size();
  auto* ours = reinterpret_cast<uint64_t*>(consumer_.data());
  auto* theirs = reinterpret_cast<const uint64_t*>(producer_.data());
  uint64_t position = *ours;
  taken_ = 0;
  is_paused_ = false;
  while (position < __atomic_load_n(theirs, __ATOMIC_ACQUIRE)) {
    if (taken_ == kRecordsAtOnce || is_paused_) return true;
    auto* head = reinterpret_cast<const uint32_t*>(buffer + (position & mask_));
    uint32_t length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    if (length & BPF_RINGBUF_BUSY_BIT) break;  // reserved and not yet written
    uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
      take_(record_at(position + BPF_RINGBUF_HDR_SZ, size));
      taken_++;
    }
    position += (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    // A full fence: a program that finds us behind does not wake us, so the position has to be seen
    // before we look whether there is more.
    __atomic_store_n(ours, position, __ATOMIC_SEQ_CST);
  }
  return false;
}

}  // namespace flowtap
