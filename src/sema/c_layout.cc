// Layout of C structs; see c_layout.h. Entry point: CLayout::place(), once per member in order.
//
// A member begins at the next multiple of its alignment; the widest alignment is that of the whole.
// Bit fields follow each other bit by bit, but stay within one unit of their type:
//
//   struct { char a; int b : 20, c : 10; };      | a |  b: 20 bits  |..| c |
//                                                0   8             28  32  42

#include "sema/c_layout.h"

#include <algorithm>

#include "base/bytes.h"

namespace flowtap {

CLayout::CLayout(bool is_union, uint64_t alignment)
    : is_union_(is_union), alignment_(std::max<uint64_t>(1, alignment)) {}

uint64_t CLayout::size() const { return align_up((end_ + 7) / 8, alignment_); }

uint64_t CLayout::advance(uint64_t begin, uint64_t bits) {
  end_ = std::max(end_, begin + bits);
  if (!is_union_) next_ = begin + bits;
  return begin;
}

// `packed` drops the alignment of the type; only one that the member requests itself remains.
uint64_t CLayout::place(const Member& member) {
  if (member.bits >= 0) return place_bits(member);
  uint64_t natural = member.is_packed ? 1 : std::max<uint64_t>(1, member.alignment);
  uint64_t alignment = std::max(natural, member.wanted);
  alignment_ = std::max(alignment_, alignment);
  return advance(align_up(next_, alignment * 8), member.size * 8);
}

// Only bit fields with a name count for the alignment of the whole. One of no width ends a unit, in
// packed structs too.
uint64_t CLayout::place_bits(const Member& member) {
  uint64_t width = static_cast<uint64_t>(member.bits), unit = member.size * 8;
  if (width == 0) return advance(align_up(next_, std::max(member.alignment, member.wanted) * 8), 0);
  if (member.has_name)
    alignment_ = std::max({alignment_, member.wanted, member.is_packed ? 1 : member.alignment});
  uint64_t begin = align_up(next_, std::max<uint64_t>(1, member.wanted * 8));
  bool straddles = begin % unit + width > unit;
  if (straddles && !member.is_packed) begin = align_up(begin, unit);
  return advance(begin, width);
}

}  // namespace flowtap
