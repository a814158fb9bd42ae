#include "output/stack.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

class StackTest : public testing::Test {
 protected:
  std::string stack(Kind kind, StackMode mode, Bytes bytes,
                    StackIndent indent = StackIndent::Frames) {
    std::string out;
    append_stack(out, stack_type(kind, mode, 3, stack_value_size(mode, 3)), bytes, context_,
                 indent);
    return out;
  }
  std::string symbol(const Type& type, Bytes bytes) {
    std::string out;
    append_symbol(out, type, bytes, context_);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
  BytesOf kernel_ = BytesOf().u32(3).u32(0).u64(0xff19).u64(0xff80).u64(0x3);
  BytesOf user_ = BytesOf().u32(2).u32(7).u64(0x1004).u64(0x5564cea32eb0).u64(0);
};

TEST_F(StackTest, bpftrace_mode) {
  EXPECT_EQ(stack(Kind::KStack, StackMode::Bpftrace, kernel_),
            "\n        vfs_read+25\n        ext4_sync+0\n        0x3\n");
  EXPECT_EQ(stack(Kind::UStack, StackMode::Bpftrace, user_),
            "\n        main+4\n        0x5564cea32eb0\n");
  EXPECT_EQ(stack(Kind::UStack, StackMode::Bpftrace, user_, StackIndent::None),
            "\nmain+4\n0x5564cea32eb0\n");
}

TEST_F(StackTest, perf_mode) {
  EXPECT_EQ(
      stack(Kind::KStack, StackMode::Perf, kernel_),
      "\n\tff19 vfs_read+25 ([kernel.kallsyms])\n\tff80 ext4_sync+0 (ext4)\n\t3 0x3 ([unknown])\n");
  EXPECT_EQ(stack(Kind::UStack, StackMode::Perf, user_),
            "\n\t1004 main+4 (/bin/app)\n\t5564cea32eb0 0x5564cea32eb0 ([unknown])\n");
}

TEST_F(StackTest, raw_mode) {
  EXPECT_EQ(stack(Kind::UStack, StackMode::Raw, user_), "\n1004\n5564cea32eb0\n");
}

TEST_F(StackTest, folded_mode_is_one_line_from_the_outermost_frame) {
  EXPECT_EQ(stack(Kind::KStack, StackMode::Folded, kernel_), "[unknown];ext4_sync;vfs_read");
  EXPECT_EQ(stack(Kind::UStack, StackMode::Folded, user_), "[unknown];main");
  EXPECT_EQ(stack(Kind::KStack, StackMode::Folded, BytesOf().u32(0).u32(0)), "");
}

TEST_F(StackTest, build_id_mode) {
  BytesOf bytes = BytesOf().u32(2).u32(7);
  bytes.u32(1).text(
      "\x13\x5a\xfc\x8c\x6d\x1b\x9e\x02\x35\x6c\xce\x21\x8b\xf0\x10\x9c\x36\x87\xad\x9f", 20);
  bytes.u64(0x2feb0).u32(2).pad(20).u64(0x7f00).pad(32);
  EXPECT_EQ(stack(Kind::UStack, StackMode::BuildId, bytes),
            "\n135afc8c6d1b9e02356cce218bf0109c3687ad9f 0x2feb0\n0x7f00\n");
}

TEST_F(StackTest, no_frames_is_an_empty_line) {
  EXPECT_EQ(stack(Kind::KStack, StackMode::Bpftrace, BytesOf().u32(0).u32(0)), "\n");
}

TEST_F(StackTest, count_is_held_to_the_limit) {
  EXPECT_EQ(stack(Kind::KStack, StackMode::Raw, BytesOf().u32(4000).u32(0).u64(1).u64(2).u64(3)),
            "\n1\n2\n3\n");
}

TEST_F(StackTest, symbols) {
  Type ksym = simple_type(Kind::KSym, 8), usym = simple_type(Kind::USym, kUSymSize);
  EXPECT_EQ(symbol(ksym, BytesOf().u64(0xff19)), "vfs_read");
  EXPECT_EQ(symbol(ksym, BytesOf().u64(0x3)), "0x3");
  EXPECT_EQ(symbol(ksym, BytesOf().u64(0)), "0");
  EXPECT_EQ(symbol(usym, BytesOf().u64(0x1004).u32(7).u32(0)), "main");
  EXPECT_EQ(symbol(usym, BytesOf().u64(0x1004).u32(8).u32(0)), "0x1004") << "another process";
}

}  // namespace
}  // namespace flowtap
