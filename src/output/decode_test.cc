#include "output/decode.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

TEST(DecodeTest, strings_end_at_the_first_nul) {
  BytesOf bytes = BytesOf().text(std::string_view("ab\0cd", 5), 8);
  DecodedString decoded = decode_string(bytes, 8);
  EXPECT_EQ(decoded.text, "ab");
  EXPECT_FALSE(decoded.is_cut);
}

TEST(DecodeTest, strings_without_nul_are_cut) {
  BytesOf bytes = BytesOf().text("abcdef", 6);
  DecodedString decoded = decode_string(bytes, 4);
  EXPECT_EQ(decoded.text, "abcd");
  EXPECT_TRUE(decoded.is_cut);
  EXPECT_FALSE(decode_string(BytesOf().u8(0), 0).is_cut)
      << "an empty storage holds an empty string";
}

TEST(DecodeTest, buffer_length_is_held_to_the_storage) {
  EXPECT_EQ(decode_buffer(buffer_type(4), BytesOf().u32(2).u32(0)).size(), 2u);
  EXPECT_EQ(decode_buffer(buffer_type(4), BytesOf().u32(9999).u32(0)).size(), 4u);
}

TEST(DecodeTest, enumerators_have_names) {
  Type type = enum_type("enum e", 4, true, {{"A", 0}, {"B", -1}});
  EXPECT_EQ(enumerator_name(type, -1), "B");
  EXPECT_EQ(enumerator_name(type, 7), "");
}

TEST(DecodeTest, only_signed_byte_arrays_are_text) {
  EXPECT_TRUE(is_char_array(array_type(int_type(1, true), 4)));
  EXPECT_FALSE(is_char_array(array_type(int_type(1, false), 4)));
  EXPECT_FALSE(is_char_array(array_type(int_type(2, true), 4)));
}

struct BitCase {
  const char* name;
  uint8_t offset, size;
  bool is_signed;
  uint64_t expected;
};

TEST(DecodeTest, bit_fields_are_cut_out_and_extended) {
  BytesOf bytes = BytesOf().u64(0xf0'00'00'00'00'00'00'b4).u8(0x05);
  for (const BitCase& c :
       {BitCase{"low", 2, 3, false, 5}, BitCase{"signed", 2, 3, true, UINT64_MAX - 2},
        BitCase{"single", 7, 1, false, 1},
        BitCase{"whole", 0, 64, false, 0xf0'00'00'00'00'00'00'b4},
        BitCase{"nine_bytes", 4, 64, false, 0x5f'00'00'00'00'00'00'0b}}) {
    Field field{
        .name = "f", .type = int_type(8, c.is_signed), .bit_offset = c.offset, .bit_size = c.size};
    EXPECT_EQ(packed_field(field, bytes)->bits, c.expected) << c.name;
  }
  Field plain{.name = "f", .type = int_type(8, false)};
  EXPECT_FALSE(packed_field(plain, bytes).has_value());
  Field data_loc{.name = "f", .type = string_type(64), .offset = 4, .is_data_loc = true};
  EXPECT_EQ(packed_field(data_loc, BytesOf().u32(0).u32(0x40010))->bits, 0x40010u);
}

TEST(DecodeTest, build_id_frames) {
  BytesOf bytes = BytesOf().u32(1).text("\x13\x5a", 20).u64(0x2feb0);
  BuildIdFrame frame = decode_build_id_frame(bytes);
  EXPECT_EQ(frame.status, BuildIdStatus::Valid);
  EXPECT_EQ(frame.build_id[1], std::byte{0x5a});
  EXPECT_EQ(frame.offset, 0x2feb0u);
}

}  // namespace
}  // namespace flowtap
