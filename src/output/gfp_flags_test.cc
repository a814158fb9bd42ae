#include "output/gfp_flags.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(GfpFlagsTest, names) {
  struct {
    uint64_t flags;
    const char* expected;
  } cases[] = {
      {0, "none"},
      {0xcc0, "GFP_KERNEL"},
      {0x400cc0, "GFP_KERNEL_ACCOUNT"},
      {0xdc0, "GFP_KERNEL|__GFP_ZERO"},
      {0xc40, "GFP_NOFS"},
      {0xc00, "GFP_NOIO"},
      {0x800, "GFP_NOWAIT"},
      {0x820, "GFP_ATOMIC"},
      {0x100cca, "GFP_HIGHUSER_MOVABLE"},
      {0x400, "__GFP_DIRECT_RECLAIM"},
      {0x8000000000, "0x8000000000"},
      {0x8000000cc0, "GFP_KERNEL|0x8000000000"},
  };
  for (auto& c : cases) {
    std::string out;
    append_gfp_flags(out, c.flags);
    EXPECT_EQ(out, c.expected) << c.flags;
  }
}

}  // namespace
}  // namespace flowtap
