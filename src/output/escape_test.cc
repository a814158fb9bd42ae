#include "output/escape.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

std::string escaped(std::string_view text, LineEnds line_ends = LineEnds::Escape) {
  std::string out = "\x1b";  // what was there before stays
  out += text;
  escape_tail(out, 1, line_ends);
  return out.substr(1);
}

TEST(Escape, text_stays) {
  for (std::string_view text : {"", "cat", "Grüße", "日本", "😀", "a\\x1b", "\u00a0"})
    EXPECT_EQ(escaped(text), text);
}

TEST(Escape, controls_are_made_visible) {
  EXPECT_EQ(escaped("\x1b[2Jx\x7f\x01"), "\\x1b[2Jx\\x7f\\x01");
  EXPECT_EQ(escaped("a\r\n\tb"), "a\\x0d\\x0a\\x09b");
  EXPECT_EQ(escaped("\u009b2J"), "\\xc2\\x9b2J");
  EXPECT_EQ(escaped("\u0080\u009f"), "\\xc2\\x80\\xc2\\x9f");
}

TEST(Escape, lines_can_be_kept) {
  EXPECT_EQ(escaped("a\r\n\tb\x1b", LineEnds::Keep), "a\\x0d\n\tb\\x1b");
}

TEST(Escape, what_is_not_utf8_is_made_visible) {
  EXPECT_EQ(escaped("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(escaped("\xc3"), "\\xc3");                             // cut off
  EXPECT_EQ(escaped("\xc0\x9b"), "\\xc0\\x9b");                    // ESC in a form too long
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past the last character
}

}  // namespace
}  // namespace flowtap
