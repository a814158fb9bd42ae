// Small things done to text.

#include "base/text.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(Text, counts_have_the_right_noun) {
  EXPECT_EQ(counted(0, "packet"), "0 packets");
  EXPECT_EQ(counted(1, "packet"), "1 packet");
  EXPECT_EQ(counted(2, "packet"), "2 packets");
}

}  // namespace
}  // namespace flowtap
