#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace flowtap {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
Fd open_null() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(Fd, AssignmentClosesWhatItHeld) {
  Fd held = open_null(), other = open_null();
  int first = held.get(), second = other.get();
  held = std::move(other);
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second));
  EXPECT_EQ(held.get(), second);
}

TEST(Fd, AssignmentToItselfKeepsIt) {
  Fd held = open_null();
  Fd& same = held;
  held = std::move(same);
  EXPECT_TRUE(held.valid() && is_open(held.get()));
}

}  // namespace
}  // namespace flowtap
