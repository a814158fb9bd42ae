// Records written by a program of the running kernel and read here.

#include "read/ring_buffer.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "bpf/assemble_for_test.h"
#include "kernel/bpf_for_test.h"
#include "kernel/run_program.h"
#include "load/load.h"

namespace flowtap {
namespace {

using testing_support::Assembler;
using testing_support::ringbuf_map;

class RingBufferTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    Image image;
    image.maps = {ringbuf_map(1 << 20)};
    image.programs = {Assembler().record(0, 3, 77).done().program()};
    Result<LoadedImage> loaded = load(image, {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    loaded_ = std::move(*loaded);
  }

  Result<RingBuffer> open(RingBuffer::Take take) {
    return RingBuffer::open(loaded_.maps[0].get(), std::move(take));
  }
  void write(int records) {
    for (int i = 0; i < records; i++) ASSERT_TRUE(run_program(loaded_.programs[0].get()));
  }
  static bool is_readable(const RingBuffer& ring) {
    pollfd source{.fd = ring.wait_fd(), .events = POLLIN};
    return ::poll(&source, 1, 0) == 1;
  }

  LoadedImage loaded_;
};

TEST_F(RingBufferTest, records_come_as_they_were_written) {
  std::vector<uint64_t> words;
  Result<RingBuffer> ring = open([&](Bytes record) {
    EXPECT_EQ(record.size(), 16u);
    words.push_back(load<uint64_t>(record));
    words.push_back(load<uint64_t>(record, 8));
  });
  ASSERT_TRUE(ring) << ring.error().message();
  EXPECT_FALSE(is_readable(*ring));
  write(2);
  EXPECT_TRUE(is_readable(*ring));
  EXPECT_FALSE(ring->consume());
  EXPECT_EQ(words, (std::vector<uint64_t>{3, 77, 3, 77}));
  EXPECT_FALSE(is_readable(*ring));
}

TEST_F(RingBufferTest, a_flood_is_handed_over_in_parts) {
  int taken = 0;
  Result<RingBuffer> ring = open([&](Bytes) { taken++; });
  ASSERT_TRUE(ring);
  write(20000);
  EXPECT_TRUE(ring->consume());
  EXPECT_LT(taken, 20000);
  EXPECT_TRUE(is_readable(*ring));
  EXPECT_FALSE(ring->consume());
  EXPECT_EQ(taken, 20000);
}

// Records take 24 bytes with their head, which is no part of the buffer's size: some pass its end.
TEST_F(RingBufferTest, a_record_that_passes_the_end_comes_in_one_piece) {
  constexpr int kRecords = 100, kTimes = 3 * (1 << 20) / 24 / kRecords;
  int right = 0;
  Result<RingBuffer> ring = open([&](Bytes record) {
    right += load<uint64_t>(record) == 3 && load<uint64_t>(record, 8) == 77;
  });
  ASSERT_TRUE(ring);
  for (int i = 0; i <= kTimes; i++) {
    write(kRecords);
    EXPECT_FALSE(ring->consume());
  }
  EXPECT_EQ(right, kRecords * (kTimes + 1));
}

TEST_F(RingBufferTest, what_is_no_ring_buffer_is_refused) {
  EXPECT_FALSE(RingBuffer::open(loaded_.programs[0].get(), [](Bytes) {}));
}

}  // namespace
}  // namespace flowtap
