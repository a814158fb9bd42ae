#include "output/json_string.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

struct Case {
  const char* name;
  std::string text;
  const char* expected;
};

const Case kCases[] = {
    {"empty", "", R"("")"},
    {"plain", "a b/c", R"("a b/c")"},
    {"quote_and_backslash", "a\"b\\c", R"("a\"b\\c")"},
    {"named_controls", "\n\r\t", R"("\n\r\t")"},
    {"other_controls", std::string("\0\x1b", 2), R"("\u0000\u001b")"},
    {"what_terminals_obey", "\x7f\u009b2J\u0080", R"("\u007f\u009b2J\u0080")"},
    {"utf8_passes", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9d", "\"grüß € 🐝\""},
    {"stray_continuation", "a\x80z", R"("a\ufffdz")"},
    {"cut_character", "a\xe2\x82", R"("a\ufffd\ufffd")"},
    {"overlong", "\xc0\xaf", R"("\ufffd\ufffd")"},
    {"surrogate", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
};

TEST(JsonStringTest, escapes) {
  for (const Case& c : kCases) {
    std::string out;
    append_json_string(out, c.text);
    EXPECT_EQ(out, c.expected) << c.name;
  }
}

TEST(JsonStringTest, quoting_a_tail_gives_the_same) {
  for (const Case& c : kCases) {
    std::string out = "x: " + c.text;
    quote_tail(out, 3);
    EXPECT_EQ(out, std::string("x: ") + c.expected) << c.name;
  }
}

std::string number_text(uint64_t bits, bool is_signed) {
  std::string out;
  append_json_number(out, {bits, is_signed});
  return out;
}

TEST(JsonNumberTest, digits_that_a_double_would_lose_are_quoted) {
  EXPECT_EQ(number_text(0, false), "0");
  EXPECT_EQ(number_text(static_cast<uint64_t>(-5), true), "-5");
  EXPECT_EQ(number_text(1ull << 53, false), "9007199254740992");
  EXPECT_EQ(number_text((1ull << 53) + 1, false), R"("9007199254740993")");
  EXPECT_EQ(number_text(1ull << 63, false), "9223372036854775808");
  EXPECT_EQ(number_text(1ull << 63, true), "-9223372036854775808");
  EXPECT_EQ(number_text(UINT64_MAX, false), R"("18446744073709551615")");
  EXPECT_EQ(number_text(static_cast<uint64_t>(INT64_MIN + 1), true), R"("-9223372036854775807")");
}

}  // namespace
}  // namespace flowtap
