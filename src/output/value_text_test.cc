// The same values through both forms: text and JSON.

#include "output/value_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "output/json.h"
#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

struct Case {
  const char* name;
  Type type;
  BytesOf bytes;
  std::string text;
  std::string json;
};

const Type kInt8 = int_type(1, true);
const Type kInt32 = int_type(4, true);
const Type kUint64 = int_type(8, false);
const Type kColor = enum_type("enum color", 4, false, {{"RED", 0}, {"BLUE", 2}});

std::vector<Case> simple_cases() {
  return {
      {"none", none_type(), BytesOf(), "", "null"},
      {"bool_true", bool_type(), BytesOf().u8(1), "true", "true"},
      {"bool_false", bool_type(), BytesOf().u8(0), "false", "false"},
      {"int_negative", kInt32, BytesOf().u32(UINT32_MAX), "-1", "-1"},
      {"int_large", kUint64, BytesOf().u64(UINT64_MAX), "18446744073709551615",
       R"("18446744073709551615")"},
      {"enum_named", kColor, BytesOf().u32(2), "BLUE", "2"},
      {"enum_unnamed", kColor, BytesOf().u32(7), "7", "7"},
      {"string", string_type(6), BytesOf().text("a\"b", 6), "a\"b", R"("a\"b")"},
      {"string_empty", string_type(6), BytesOf().pad(6), "", R"("")"},
      {"string_cut", string_type(3), BytesOf().text("abc", 3), "abc..", R"("abc..")"},
      {"buffer", buffer_type(4), BytesOf().u32(3).text("a\nb", 4), "a\\x0ab", "[97,10,98]"},
      {"buffer_empty", buffer_type(4), BytesOf().u32(0).pad(4), "", "[]"},
      {"pointer", pointer_type(kInt32, AddressSpace::Kernel), BytesOf().u64(16), "0x10", "16"},
      {"pointer_null", pointer_type(kInt32, AddressSpace::Kernel), BytesOf().u64(0), "0x0", "0"},
  };
}

std::vector<Case> nested_cases() {
  Type inner = tuple_type({kInt8, kInt8});
  Field low{.name = "low", .type = int_type(4, false), .bit_offset = 0, .bit_size = 3};
  Field high{.name = "high", .type = kInt32, .bit_offset = 3, .bit_size = 5};
  Field color{.name = "color", .type = kColor, .offset = 1, .bit_size = 2};
  Field name{.name = "name", .type = array_type(kInt8, 4), .offset = 2};
  return {
      {"array", array_type(kInt8, 3), BytesOf().u8(57).u8(48).u8(0), "[57,48,0]", "[57,48,0]"},
      {"array_empty", array_type(kInt8, 0), BytesOf(), "[]", "[]"},
      {"array_of_bool", array_type(bool_type(), 2), BytesOf().u8(1).u8(0), "[true,false]",
       "[true,false]"},
      {"tuple", tuple_type({kInt8, string_type(2), inner}),
       BytesOf().u8(1).text("a", 2).u8(2).u8(3), "(1, a, (2, 3))", R"([1,"a",[2,3]])"},
      {"tuple_of_one", tuple_type({kInt8}), BytesOf().u8(1), "(1)", "[1]"},
      {"record", record_type({{"a", kInt8}, {"b", string_type(3)}}), BytesOf().u8(1).text("x", 3),
       "{ .a = 1, .b = x }", R"({"a": 1, "b": "x"})"},
      {"record_keeps_int_arrays", record_type({{"a", array_type(kInt8, 2)}}),
       BytesOf().u8(65).u8(0), "{ .a = [65,0] }", R"({"a": [65,0]})"},
      {"struct_empty", struct_of(0, {}), BytesOf(), "{}", "{}"},
      {"struct_bits_and_chars", struct_of(6, {low, high, color, name}),
       BytesOf().u8(0xfd).u8(2).text("abcd", 4),
       "{ .low = 5, .high = -1, .color = BLUE, .name = abcd }",
       R"({"low": 5, "high": -1, "color": 2, "name": "abcd"})"},
  };
}

std::vector<Case> resolved_cases() {
  Type stack = stack_type(Kind::KStack, StackMode::Bpftrace, 1, 16);
  Type inet = simple_type(Kind::Inet, kInetSize);
  return {
      {"kstack", stack, BytesOf().u32(1).u32(0).u64(0xff19), "\n        vfs_read+25\n",
       R"("\n        vfs_read+25\n")"},
      {"ksym", simple_type(Kind::KSym, 8), BytesOf().u64(0xff00), "vfs_read", R"("vfs_read")"},
      {"usym", simple_type(Kind::USym, 16), BytesOf().u64(0x1000).u64(7), "main", R"("main")"},
      {"username", simple_type(Kind::Username, 8), BytesOf().u64(0), "root", R"("root")"},
      {"username_unknown", simple_type(Kind::Username, 8), BytesOf().u64(77), "77", R"("77")"},
      {"inet4", inet, BytesOf().u32(4).u32(0).text("\x7f\0\0\x01", 1).pad(2).u8(1).pad(12),
       "127.0.0.1", R"("127.0.0.1")"},
      {"inet6", inet, BytesOf().u32(16).u32(0).pad(15).u8(1), "::1", R"("::1")"},
      {"mac", simple_type(Kind::Mac, kMacSize), BytesOf().text("\x18\xc0\x4d\x08\x2e\xbb", 6),
       "18:C0:4D:08:2E:BB", R"("18:C0:4D:08:2E:BB")"},
      {"cgroup", simple_type(Kind::CgroupPath, 16), BytesOf().u64(42).u64(1), "unified:/42?uni*",
       R"("unified:/42?uni*")"},
      {"timestamp", simple_type(Kind::Timestamp, 16), BytesOf().u64(1'500'000'000).u32(0).u32(0),
       "04:23:21.500000", R"("04:23:21.500000")"},
      {"timestamp_bad_index", simple_type(Kind::Timestamp, 16), BytesOf().u64(0).u32(0).u32(99), "",
       R"("")"},
  };
}

std::vector<Case> aggregation_cases() {
  return {
      {"count", aggregation(Kind::Count), BytesOf().u64(4), "4", "4"},
      {"sum", aggregation(Kind::Sum), BytesOf().s64(-4), "-4", "-4"},
      {"max", aggregation(Kind::Max), BytesOf().s64(9).u64(1), "9", "9"},
      {"avg", aggregation(Kind::Avg), BytesOf().s64(9).u64(2), "4", "4"},
      {"stats", aggregation(Kind::Stats), BytesOf().s64(-9).u64(2),
       "{ .count = 2, .average = -4, .total = -9 }", R"({"count": 2, "average": -4, "total": -9})"},
  };
}

class ValueTest : public testing::Test {
 protected:
  ValueTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  void check(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      std::string text, json;
      append_text(text, c.type, c.bytes, context_);
      append_json(json, c.type, c.bytes, context_);
      EXPECT_EQ(text, c.text) << c.name;
      EXPECT_EQ(json, c.json) << c.name;
    }
  }

  FakeSymbolizer symbolizer_;
  std::vector<std::string> strings_ = {"%H:%M:%S.%f", "uni*"};
  ValueContext context_{symbolizer_, strings_};
};

TEST_F(ValueTest, simple_values) { check(simple_cases()); }
TEST_F(ValueTest, nested_values) { check(nested_cases()); }
TEST_F(ValueTest, resolved_values) { check(resolved_cases()); }
TEST_F(ValueTest, aggregations) { check(aggregation_cases()); }

TEST_F(ValueTest, trailer_is_configurable) {
  ValueContext context{symbolizer_, {}, ""};
  std::string out;
  append_text(out, string_type(2), BytesOf().text("ab", 2), context);
  EXPECT_EQ(out, "ab");
}

TEST_F(ValueTest, keys_drop_outer_parentheses) {
  Type type = tuple_type({kInt8, tuple_type({kInt8, string_type(4)})});
  std::string out;
  append_key(out, type, BytesOf().u8(1).u8(2).text("x y", 4), context_);
  EXPECT_EQ(out, "1, (2, x y)");
}

// Counts, lengths and indexes that make no sense must not lead outside the value.
TEST_F(ValueTest, nonsense_bytes_are_survived) {
  Type field = record_type({{"s", string_type(3)}, {"b", buffer_type(4)}});
  for (const Type& type :
       {bool_type(), kColor, string_type(5), buffer_type(3), array_type(field, 2), field,
        stack_type(Kind::KStack, StackMode::Perf, 2, stack_value_size(StackMode::Perf, 2)),
        stack_type(Kind::UStack, StackMode::BuildId, 2, stack_value_size(StackMode::BuildId, 2)),
        simple_type(Kind::USym, kUSymSize), simple_type(Kind::Inet, kInetSize),
        simple_type(Kind::CgroupPath, kCgroupPathSize),
        simple_type(Kind::Timestamp, kTimestampSize), aggregation(Kind::Stats), hist(5),
        lhist(0, 10, 3), tseries(1000, 3, TseriesAgg::Avg)}) {
    std::vector<std::byte> bytes(type->size, std::byte{0xff});
    std::string text, json;
    append_text(text, type, bytes, context_);
    append_json(json, type, bytes, context_);
    EXPECT_FALSE(json.empty()) << type_name(type);
  }
}

TEST_F(ValueTest, buffer_styles) {
  std::string out;
  BytesOf bytes = BytesOf().text("a\n\\", 3);
  append_buffer(out, bytes, BufferStyle::Printable);
  EXPECT_EQ(out, "a\\x0a\\");
  out.clear();
  append_buffer(out, bytes, BufferStyle::Escaped);
  EXPECT_EQ(out, "\\x61\\x0a\\x5c");
  out.clear();
  append_buffer(out, bytes, BufferStyle::Hex);
  EXPECT_EQ(out, "61 0a 5c");
}

}  // namespace
}  // namespace flowtap
