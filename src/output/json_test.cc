// Keys of JSON objects; values are tested beside their text form in value_text_test.cc.

#include "output/json.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

const Type kInt8 = int_type(1, true);

std::string key(const Type& type, Bytes bytes) {
  FakeSymbolizer symbolizer;
  std::string out;
  append_json_key(out, type, bytes, {symbolizer, {}});
  return out;
}

TEST(JsonKeyTest, separators_have_no_blanks_but_strings_keep_theirs) {
  Type type = tuple_type({kInt8, tuple_type({kInt8, string_type(4)})});
  EXPECT_EQ(key(type, BytesOf().u8(1).u8(2).text("x y", 4)), "\"1,(2,x y)\"");
  EXPECT_EQ(key(record_type({{"a", kInt8}, {"b", kInt8}}), BytesOf().u8(1).u8(2)),
            "\"{.a=1,.b=2}\"");
}

TEST(JsonKeyTest, scalars_are_quoted) {
  EXPECT_EQ(key(kInt8, BytesOf().u8(0xff)), "\"-1\"");
  EXPECT_EQ(key(bool_type(), BytesOf().u8(1)), "\"true\"");
  EXPECT_EQ(key(string_type(4), BytesOf().text("a\"b", 4)), "\"a\\\"b\"");
}

TEST(JsonKeyTest, enums_go_by_name) {
  Type type = enum_type("enum color", 4, false, {{"BLUE", 2}});
  EXPECT_EQ(key(type, BytesOf().u32(2)), "\"BLUE\"");
  EXPECT_EQ(key(type, BytesOf().u32(3)), "\"3\"");
}

TEST(JsonKeyTest, stacks_are_not_indented) {
  Type stack = stack_type(Kind::KStack, StackMode::Bpftrace, 1, 16);
  EXPECT_EQ(key(stack, BytesOf().u32(1).u32(0).u64(0xff19)), "\"\\nvfs_read+25\\n\"");
}

}  // namespace
}  // namespace flowtap
