#include "output/printf.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

class PrintfTest : public testing::Test {
 protected:
  // One argument, after the record's header.
  std::string print(std::string_view format, const Type& type, const BytesOf& value) {
    BytesOf record = BytesOf().u64(0);
    for (std::byte byte : value.vector()) record.u8(std::to_integer<uint8_t>(byte));
    std::vector<Field> args = {{.name = "0", .type = type, .offset = 8}};
    std::vector<FormatPiece> pieces = *parse_format(format);
    std::string out;
    append_printf(out, {pieces, args, record}, context_);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
};

struct IntegerCase {
  const char* format;
  int64_t value;
  const char* expected;
};

TEST_F(PrintfTest, int64_conversions_follow_c) {
  for (const IntegerCase& c : {
           IntegerCase{"%d", 5, "5"},
           {"%d", 1ll << 40, "1099511627776"},
           {"%i", -5, "-5"},
           {"%5d|", 42, "   42|"},
           {"%-5d|", 42, "42   |"},
           {"%05d", -42, "-0042"},
           {"%+d", 42, "+42"},
           {"%+d", -42, "-42"},
           {"%.4d", 42, "0042"},
           {"%6.4d", -42, " -0042"},
           {"%06.4d", 42, "  0042"},
           {"%.0d|", 0, "|"},
           {"%-05d|", 42, "42   |"},
           {"%u", -1, "18446744073709551615"},
           {"%x", 255, "ff"},
           {"%X", 255, "FF"},
           {"%#x", 255, "0xff"},
           {"%#X", 255, "0XFF"},
           {"%#x", 0, "0"},
           {"%#010x", 255, "0x000000ff"},
           {"%o", 8, "10"},
           {"%#o", 8, "010"},
           {"%p", 16, "0x10"},
           {"%p", 0, "0x0"},
           {"%12p", 16, "        0x10"},
           {"%c", 'A', "A"},
           {"%3c|", 'A', "  A|"},
           {"%s", -3, "-3"},
           {"%5s|", 42, "   42|"},
           {"%gr", 0xcc0, "GFP_KERNEL"},
           {"%lx", -1, "ffffffffffffffff"},
           {"%hhd", 300, "44"},
           {"%hhd", 255, "-1"},
           {"%hd", 65535, "-1"},
           {"%hx", -1, "ffff"},
           {"%hhu", -1, "255"},
       })
    EXPECT_EQ(print(c.format, int_type(8, true), BytesOf().s64(c.value)), c.expected) << c.format;
}

TEST_F(PrintfTest, narrow_arguments_keep_their_value) {
  BytesOf ones = BytesOf().u64(UINT64_MAX);
  EXPECT_EQ(print("%d", int_type(4, false), ones), "4294967295");
  EXPECT_EQ(print("%d", int_type(4, true), ones), "-1");
  EXPECT_EQ(print("%u", int_type(4, true), ones), "4294967295");
  EXPECT_EQ(print("%x", int_type(1, true), ones), "ffffffff") << "promoted to int";
  EXPECT_EQ(print("%x", int_type(1, false), ones), "ff");
  EXPECT_EQ(print("%lx", int_type(1, true), ones), "ffffffffffffffff");
  EXPECT_EQ(print("%d", bool_type(), BytesOf().u8(1)), "1");
}

TEST_F(PrintfTest, strings_take_width_and_precision) {
  Type type = string_type(8);
  BytesOf bytes = BytesOf().text("hello", 8);
  EXPECT_EQ(print("%s", type, bytes), "hello");
  EXPECT_EQ(print("%8s|", type, bytes), "   hello|");
  EXPECT_EQ(print("%-8s|", type, bytes), "hello   |");
  EXPECT_EQ(print("%.2s|", type, bytes), "he|");
  EXPECT_EQ(print("%-4.2s|", type, bytes), "he  |");
  EXPECT_EQ(print("%.0s|", type, bytes), "|");
}

TEST_F(PrintfTest, s_takes_anything) {
  EXPECT_EQ(print("<%s>", bool_type(), BytesOf().u8(1)), "<true>");
  EXPECT_EQ(
      print("<%s>", tuple_type({int_type(1, true), int_type(1, true)}), BytesOf().u8(1).u8(2)),
      "<(1, 2)>");
  Type color = enum_type("enum color", 4, false, {{"RED", 1}});
  EXPECT_EQ(print("%s", color, BytesOf().u32(1)), "RED");
  EXPECT_EQ(print("%d", color, BytesOf().u32(1)), "1");
  EXPECT_EQ(print("%s", simple_type(Kind::KSym, 8), BytesOf().u64(0xff00)), "vfs_read");
  EXPECT_EQ(print("%s", pointer_type(color, AddressSpace::Kernel), BytesOf().u64(255)), "0xff");
}

TEST_F(PrintfTest, buffers) {
  Type type = buffer_type(4);
  BytesOf bytes = BytesOf().u32(3).text("a\nb", 4);
  EXPECT_EQ(print("%r", type, bytes), "a\\x0ab");
  EXPECT_EQ(print("%rx", type, bytes), "\\x61\\x0a\\x62");
  EXPECT_EQ(print("%rh", type, bytes), "61 0a 62");
  EXPECT_EQ(print("%10rh|", type, bytes), "  61 0a 62|");
}

TEST_F(PrintfTest, several_arguments_and_text) {
  std::vector<Field> args = {{.name = "0", .type = int_type(4, true), .offset = 8},
                             {.name = "1", .type = string_type(4), .offset = 12}};
  std::vector<FormatPiece> pieces = *parse_format("a %d 100%% %s\n");
  std::string out = "before ";
  append_printf(out, {pieces, args, BytesOf().u64(0).u32(7).text("xy", 4)}, context_);
  EXPECT_EQ(out, "before a 7 100% xy\n");
}

}  // namespace
}  // namespace flowtap
