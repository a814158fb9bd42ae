// The verifier's way through a struct: what it takes, and what it does not.

#include "types/btf_walk.h"

#include <gtest/gtest.h>

#include "types/btf_for_test.h"

namespace flowtap {
namespace {

struct Walked {
  explicit Walked(const BtfWriter& writer) : bytes(writer.bytes()), btf(Btf::parse(bytes)) {}
  Walk at(uint32_t id, uint32_t offset, uint32_t size) const {
    return walk(*btf, id, offset, size);
  }
  std::vector<std::byte> bytes;
  Result<Btf> btf;
};

TEST(BtfWalk, numbers_and_their_parts) {
  BtfWriter w;
  uint32_t word = w.add_int("u32", 4);
  uint32_t other = w.add_plain(BtfKind::Typedef, "be32", word);
  uint32_t pair = w.add_struct(BtfKind::Struct, "pair", 12, {{"a", word, 0}, {"b", other, 64}});
  Walked it(w);
  EXPECT_EQ(it.at(pair, 0, 4), Walk::Number);
  EXPECT_EQ(it.at(pair, 2, 2), Walk::Number);
  EXPECT_EQ(it.at(pair, 8, 4), Walk::Number);
  EXPECT_EQ(it.at(pair, 0, 8), Walk::Refused) << "beyond the member";
  EXPECT_EQ(it.at(pair, 4, 4), Walk::Refused) << "a hole";
  EXPECT_EQ(it.at(pair, 8, 8), Walk::Refused) << "beyond the struct";
  EXPECT_EQ(it.at(word, 0, 4), Walk::Refused) << "not a struct";
}

TEST(BtfWalk, pointers_are_read_whole) {
  BtfWriter w;
  uint32_t word = w.add_int("u32", 4);
  uint32_t inner = w.add_struct(BtfKind::Struct, "inner", 4, {{"a", word, 0}});
  uint32_t to_struct = w.add_plain(BtfKind::Ptr, "", w.add_plain(BtfKind::Const, "", inner));
  uint32_t to_word = w.add_plain(BtfKind::Ptr, "", word);
  uint32_t outer =
      w.add_struct(BtfKind::Struct, "outer", 16, {{"s", to_struct, 0}, {"w", to_word, 64}});
  Walked it(w);
  EXPECT_EQ(it.at(outer, 0, 8), Walk::Pointer);
  EXPECT_EQ(it.at(outer, 8, 8), Walk::Number);
  EXPECT_EQ(it.at(outer, 0, 4), Walk::Refused);
  EXPECT_EQ(it.at(outer, 12, 4), Walk::Refused);
}

TEST(BtfWalk, of_a_union_only_the_first_member_that_reaches_counts) {
  BtfWriter w;
  uint32_t byte = w.add_int("u8", 1), word = w.add_int("u64", 8);
  uint32_t inner = w.add_struct(BtfKind::Struct, "inner", 8, {{"a", word, 0}});
  uint32_t pointer = w.add_plain(BtfKind::Ptr, "", inner);
  uint32_t small = w.add_struct(BtfKind::Union, "small", 8, {{"b", byte, 0}, {"w", word, 0}});
  uint32_t mixed = w.add_struct(BtfKind::Union, "mixed", 8, {{"p", pointer, 0}, {"w", word, 0}});
  Walked it(w);
  EXPECT_EQ(it.at(small, 0, 1), Walk::Number);
  EXPECT_EQ(it.at(small, 0, 8), Walk::Refused);
  EXPECT_EQ(it.at(small, 4, 4), Walk::Number) << "the first member ends before";
  EXPECT_EQ(it.at(mixed, 0, 8), Walk::Pointer) << "whatever member was meant";
  EXPECT_EQ(it.at(mixed, 0, 4), Walk::Refused);
}

TEST(BtfWalk, arrays_and_what_is_inside) {
  BtfWriter w;
  uint32_t word = w.add_int("u32", 4);
  uint32_t inner = w.add_struct(BtfKind::Struct, "inner", 8, {{"a", word, 0}, {"b", word, 32}});
  uint32_t rows = w.add_array(w.add_array(inner, 2), 3);
  uint32_t words = w.add_array(word, 4);
  uint32_t open = w.add_array(word, 0);
  uint32_t outer = w.add_struct(BtfKind::Struct, "outer", 64,
                                {{"r", rows, 0}, {"w", words, 384}, {"o", open, 512}});
  Walked it(w);
  EXPECT_EQ(it.at(outer, 44, 4), Walk::Number);
  EXPECT_EQ(it.at(outer, 40, 8), Walk::Refused) << "across two members of an element";
  EXPECT_EQ(it.at(outer, 48, 8), Walk::Number) << "across two numbers of an array";
  EXPECT_EQ(it.at(outer, 64, 4), Walk::Refused) << "an array without an end";
}

TEST(BtfWalk, bit_fields_with_all_their_bytes) {
  BtfWriter w;
  uint32_t word = w.add_int("u32", 4);
  uint32_t bits = w.add_struct(BtfKind::Struct, "bits", 4, {{"a", word, 3, 4}, {"b", word, 7, 9}});
  Walked it(w);
  EXPECT_EQ(it.at(bits, 0, 1), Walk::Number);
  EXPECT_EQ(it.at(bits, 0, 2), Walk::Number);
  EXPECT_EQ(it.at(bits, 1, 1), Walk::Refused) << "only the end of one";
}

TEST(BtfWalk, a_struct_inside_itself_ends) {
  BtfWriter w;
  uint32_t loop = w.add_struct(BtfKind::Struct, "loop", 8, {{"again", 1, 0}});
  Walked it(w);
  EXPECT_EQ(it.at(loop, 0, 8), Walk::Refused);
}

}  // namespace
}  // namespace flowtap
