// Tables of text in, tokens or messages out.

#include "lang/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace flowtap {
namespace {

std::string show(const Token& token) {
  switch (token.kind) {
    case TokenKind::End: return "";
    case TokenKind::Integer: return fmt::format("{} ", token.number);
    case TokenKind::String: return fmt::format("<{}> ", token.value);
    case TokenKind::Parameter: return fmt::format("parameter{} ", token.number);
    case TokenKind::Variable: return fmt::format("variable:{} ", token.value);
    case TokenKind::Keyword: return fmt::format("KEY:{} ", token.text);
    default: return fmt::format("{} ", token.text);
  }
}

// The tokens on one line, or the messages, one per line.
std::string lexed(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  std::string out;
  for (const Token& token : lex(sources, sources.add("t.bt", text), diagnostics))
    out += show(token);
  if (!diagnostics.all().empty()) out.clear();
  for (const Diagnostic& d : diagnostics.all())
    out += d.message + (d.hint.empty() ? "" : " (" + d.hint + ")") + "\n";
  return out;
}

struct Case {
  const char* name;
  const char* text;
  const char* expected;
};

class LexerTable : public testing::TestWithParam<Case> {};

TEST_P(LexerTable, gives) { EXPECT_EQ(lexed(GetParam().text), GetParam().expected); }

const Case kNumbers[] = {
    {"decimal", "0 42 1_000_000", "0 42 1000000 "},
    {"hexadecimal", "0x1F 0Xff_ff", "31 65535 "},
    {"octal", "017 00", "15 0 "},
    {"scientific", "1e6 2E3", "1000000 2000 "},
    {"c_suffixes", "1u 2ul 3ull 4l 5LL", "1 2 3 4 5 "},
    {"durations", "1ns 2us 3ms 4s 2m 1h 1d",
     "1 2000 3000000 4000000000 120000000000 3600000000000 86400000000000 "},
    {"largest", "18446744073709551615", "18446744073709551615 "},
    {"too_large", "18446744073709551616",
     "integer '18446744073709551616' is larger than 18446744073709551615\n"},
    {"too_large_for_u", "5000000000u", "integer '5000000000u' is larger than 4294967295\n"},
    {"too_large_duration", "300000d", "integer '300000d' is larger than 18446744073709551615\n"},
    {"trailing_underscore", "1_", "integer '1_' ends in an underscore\n"},
    {"bad_octal", "09", "'09' is not an octal number, and a leading 0 makes it one (write '9')\n"},
    {"binary", "0b101", "unknown suffix 'b101' of integer '0b101' (write '0x5')\n"},
    {"bad_suffix", "1xy",
     "unknown suffix 'xy' of integer '1xy' (suffixes are ns us ms s m h d, u ul ull l ll)\n"},
    {"bad_hexadecimal", "0x1Fu", "'u' is not a hexadecimal digit in '0x1Fu'\n"},
    {"wide_coefficient", "11e3", "the part of '11e3' before the 'e' must be one digit, 1 to 9\n"},
    {"zero_exponent", "1e0", "the exponent of '1e0' must not begin with 0\n"},
};

const Case kStrings[] = {
    {"plain", R"("a b")", "<a b> "},
    {"escapes", R"("\t\"\\\101\x41\X4a")", "<\t\"\\AAJ> "},
    {"octal_stops_after_three", R"("\1011")", "<A1> "},
    {"open", "\"abc\nx", "string is not closed on this line\n"},
    {"open_at_end", "\"abc\\", "string is not closed on this line\n"},
    {"unknown_escape", R"("\q")", "unknown escape sequence '\\q'\n"},
    {"large_octal", R"("\777")", "octal escape '\\777' is larger than '\\377'\n"},
    {"empty_hex", R"("\xg")", "'\\x' needs a hexadecimal digit\n"},
};

const Case kRest[] = {
    {"names", "$x @x @ $1 $# a_1", "variable:x @x @ parameter1 parameter0 a_1 "},
    {"keywords", "if iffy struct", "KEY:if iffy KEY:struct "},
    {"longest_symbol", "a<<=b->c..1 ++x", "a <<= b -> c .. 1 ++ x "},
    {"tuple_fields_are_no_floats", "$a.0.1", "variable:a . 0 . 1 "},
    {"comments", "a // b\n/* c\n d */ e", "a e "},
    {"shebang", "/* x */ #!/usr/bin/env flowtap\na", "a "},
    {"open_comment", "a /* b", "comment is never closed (close it with '*/')\n"},
    {"parameter_zero", "$0", "parameters are counted from '$1'; there is no '$0'\n"},
    {"lone_dollar", "$ x", "expected a name or a number after '$'\n"},
    {"strange_character", "a ` b", "unexpected character '`'\n"},
    {"single_quotes", "'a'",
     "unexpected character ''' (strings are written with double quotes)\n"
     "unexpected character ''' (strings are written with double quotes)\n"},
    {"byte_above_ascii", "\xff", "unexpected character '\\xff'\n"},
};

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(numbers, LexerTable, testing::ValuesIn(kNumbers), case_name);
INSTANTIATE_TEST_SUITE_P(strings, LexerTable, testing::ValuesIn(kStrings), case_name);
INSTANTIATE_TEST_SUITE_P(rest, LexerTable, testing::ValuesIn(kRest), case_name);

TEST(Lexer, spans_are_byte_ranges_of_the_file) {
  Lexer lexer("ab  $c", 3, 100);
  EXPECT_EQ(lexer.next().span, (Span{3, 100, 102}));
  EXPECT_EQ(lexer.next().span, (Span{3, 104, 106}));
  lexer.seek(101);
  EXPECT_EQ(lexer.next().text, "b");
}

}  // namespace
}  // namespace flowtap
