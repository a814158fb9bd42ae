#include "sema/c_layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace flowtap {
namespace {

using Member = CLayout::Member;

Member plain(uint64_t size, uint64_t alignment = 0) {
  return {.size = size, .alignment = alignment ? alignment : size};
}
Member bits(uint64_t size, int64_t width, bool has_name = true) {
  return {.size = size, .alignment = size, .bits = width, .has_name = has_name};
}
Member packed(Member member) {
  member.is_packed = true;
  return member;
}
Member aligned(uint64_t wanted, Member member) {
  member.wanted = wanted;
  return member;
}

struct Case {
  const char* name;
  std::vector<Member> members;
  std::vector<uint64_t> places;  // bits
  uint64_t size, alignment;      // bytes
  bool is_union = false;
  uint64_t wanted = 0;
};

// As gcc lays them out; tests/layouts.py compares many more.
const Case kCases[] = {
    {"natural", {plain(1), plain(4), plain(1)}, {0, 32, 64}, 12, 4},
    {"packed", {packed(plain(1)), packed(plain(4))}, {0, 8}, 5, 1},
    {"packed_struct_inside", {plain(1), plain(5, 1), plain(1)}, {0, 8, 48}, 7, 1},
    {"aligned_member", {plain(1), aligned(16, plain(4)), plain(1)}, {0, 128, 160}, 32, 16},
    {"packed_and_aligned_member", {plain(1), packed(aligned(2, plain(8)))}, {0, 16}, 10, 2},
    {"lower_alignment_counts_only_when_packed", {plain(1), aligned(1, plain(4))}, {0, 32}, 8, 4},
    {"aligned_struct", {plain(1)}, {0}, 64, 64, false, 64},
    {"bits_of_one_unit", {plain(1), bits(4, 20), bits(4, 10)}, {0, 8, 32}, 8, 4},
    {"packed_bits_straddle", {packed(bits(1, 5)), packed(bits(8, 62))}, {0, 5}, 9, 1},
    {"no_width_ends_the_unit", {bits(4, 3), bits(4, 0, false), bits(4, 3)}, {0, 32, 32}, 8, 4},
    {"no_width_ends_it_when_packed_too",
     {packed(bits(4, 3)), packed(bits(4, 0, false)), packed(bits(4, 3))},
     {0, 32, 32},
     5,
     1},
    {"bits_without_a_name_align_nothing", {plain(1), bits(4, 3, false)}, {0, 8}, 2, 1},
    {"aligned_bits", {bits(4, 3), aligned(2, bits(4, 3))}, {0, 16}, 4, 4},
    {"union", {plain(1), plain(8), bits(2, 3), plain(12, 4)}, {0, 0, 0, 0}, 16, 8, true},
    {"empty", {}, {}, 0, 1},
};

TEST(CLayout, is_that_of_gcc) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    CLayout layout(c.is_union, c.wanted);
    std::vector<uint64_t> places;
    for (const Member& member : c.members) places.push_back(layout.place(member));
    EXPECT_EQ(places, c.places);
    EXPECT_EQ(layout.size(), c.size);
    EXPECT_EQ(layout.alignment(), c.alignment);
  }
}

}  // namespace
}  // namespace flowtap
