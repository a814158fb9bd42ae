// Tables of wrong scripts in, whole messages out.

#include <gtest/gtest.h>

#include "lang/parser.h"

namespace flowtap {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* expected;  // begins with a newline, which is not part of it
};

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class ErrorTable : public testing::TestWithParam<Case> {};

TEST_P(ErrorTable, is_reported) {
  Sources sources;
  Diagnostics diagnostics;
  parse(sources, sources.add("t.bt", GetParam().text), diagnostics);
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, sources);
  EXPECT_EQ("\n" + out, GetParam().expected);
}

const Case kStatements[] = {
    {"missing_semicolon", "begin { $x = 1 $y = 2; }", R"(
t.bt:1:16: error: expected ';' after this statement, found '$y'
  1 | begin { $x = 1 $y = 2; }
    |                ^^
)"},
    {"missing_semicolon_at_end_of_line", "begin {\n  $x = 1\n  $y = 2;\n}", R"(
t.bt:2:9: error: expected ';' after this statement, found '$y'
  2 |   $x = 1
    |         ^
)"},
    {"several_mistakes", "begin { print(1; @a[1 = 2; }\nend { 1 + ; }", R"(
t.bt:1:16: error: expected ')' to close the call of 'print', found ';'
  1 | begin { print(1; @a[1 = 2; }
    |                ^
t.bt:1:23: error: expected ']' after the key of the map, found '='
  1 | begin { print(1; @a[1 = 2; }
    |                       ^
t.bt:2:11: error: expected an expression, found ';'
  2 | end { 1 + ; }
    |           ^
)"},
    {"assignment_as_condition", "begin { if ($x = 1) { } else { } $y = 1; }", R"(
t.bt:1:16: error: expected ')' to close the parenthesis, found '='
  1 | begin { if ($x = 1) { } else { } $y = 1; }
    |                ^
hint: did you mean '=='?
)"},
    {"assignment_to_a_name", "begin { x = 1; }", R"(
t.bt:1:9: error: cannot assign to 'x'
  1 | begin { x = 1; }
    |         ^
hint: did you mean '$x' or '@x'?
)"},
    {"assignment_to_a_field", "begin { $x.0 += 1; }", R"(
t.bt:1:9: error: cannot assign to a field: values never change once they are made
  1 | begin { $x.0 += 1; }
    |         ^^^^
hint: make a new value and assign it
)"},
    {"assignment_to_a_number", "begin { 5 = 1; }", R"(
t.bt:1:9: error: can only assign to a variable or a map
  1 | begin { 5 = 1; }
    |         ^
)"},
    {"let_without_dollar", "begin { let x = 1; }", R"(
t.bt:1:13: error: expected a variable after 'let', found 'x'
  1 | begin { let x = 1; }
    |             ^
hint: did you mean '$x'?
)"},
    {"let_of_a_map", "begin { let @x = 1; }", R"(
t.bt:1:13: error: maps are declared outside of probes
  1 | begin { let @x = 1; }
    |             ^^
hint: assign to '@x' without 'let'
)"},
    {"loop_over_a_number", "begin { for ($i : 5) { } }", R"(
t.bt:1:19: error: a 'for' loop goes over a map or a range
  1 | begin { for ($i : 5) { } }
    |                   ^
hint: write 'for ($i : 0..10)' or 'for ($entry : @map)'
)"},
    {"else_without_block", "begin { if (1) { } else f(); }", R"(
t.bt:1:25: error: expected '{' or 'if' after 'else', found 'f'
  1 | begin { if (1) { } else f(); }
    |                         ^
)"},
    {"never_closed", "begin { print(1);", R"(
t.bt:1:18: error: expected '}' to close the block, found the end of the script
  1 | begin { print(1);
    |                  ^
)"},
};

const Case kExpressions[] = {
    {"address_of_a_number", "begin { $x = &5; }", R"(
t.bt:1:15: error: '&' takes the address of a variable or a map only
  1 | begin { $x = &5; }
    |               ^
)"},
    {"increment_of_a_number", "begin { 5++; }", R"(
t.bt:1:9: error: '++' needs a variable or a map
  1 | begin { 5++; }
    |         ^
)"},
    {"field_named_twice", "begin { $x = (a=1, a=2); }", R"(
t.bt:1:20: error: the record has a field 'a' already
  1 | begin { $x = (a=1, a=2); }
    |                    ^
)"},
    {"branch_without_value", "begin { $x = if (1) { 2 }; }", R"(
t.bt:1:14: error: an 'if' used as a value needs a value in each branch, and an 'else'
  1 | begin { $x = if (1) { 2 }; }
    |              ^^
)"},
    {"bad_token_is_reported_once", "begin { $x = 09; $y = \"a; }\n", R"(
t.bt:1:14: error: '09' is not an octal number, and a leading 0 makes it one
  1 | begin { $x = 09; $y = "a; }
    |              ^^
hint: write '9'
t.bt:1:23: error: string is not closed on this line
  1 | begin { $x = 09; $y = "a; }
    |                       ^^^^^
)"},
};

const Case kTop[] = {
    {"no_attach_point", "{ }", R"(
t.bt:1:1: error: expected an attach point, such as 'kprobe:do_nanosleep', found '{'
  1 | { }
    | ^
)"},
    {"no_block", "k:f print(1)\nbegin { 1 = 2 }", R"(
t.bt:1:5: error: expected '{' or a predicate after this attach point, found 'print'
  1 | k:f print(1)
    |     ^^^^^
)"},
    {"misspelt_declaration", "macr f(x) { }", R"(
t.bt:1:6: error: expected '{' or a predicate after this attach point, found 'f'
  1 | macr f(x) { }
    |      ^
hint: did you mean 'macro'?
)"},
    {"open_predicate", "k:f /pid == 1 { }", R"(
t.bt:1:15: error: expected '/' to close the predicate, found '{'
  1 | k:f /pid == 1 { }
    |               ^
)"},
    {"assignment_in_predicate", "k:f /pid = 1/ { }", R"(
t.bt:1:10: error: expected '/' to close the predicate, found '='
  1 | k:f /pid = 1/ { }
    |          ^
hint: did you mean '=='?
)"},
    {"stray_brace", "begin { } }\nend { 5 = 1; }", R"(
t.bt:1:11: error: unexpected '}' outside of a probe
  1 | begin { } }
    |           ^
t.bt:2:7: error: can only assign to a variable or a map
  2 | end { 5 = 1; }
    |       ^
)"},
    {"order_of_sections",
     "begin { }\nconfig = { a = 1 }\nimport \"x\";\n#define X 1\nstruct a { };",
     R"(
t.bt:2:1: error: 'config' must stand before all probes, macros and declarations
  2 | config = { a = 1 }
    | ^^^^^^
t.bt:3:1: error: imports must stand before all probes, macros and declarations
  3 | import "x";
    | ^^^^^^^^^^
t.bt:4:1: error: C definitions must stand before all probes, macros and declarations
  4 | #define X 1
    | ^^^^^^^^^^^
t.bt:5:1: error: C definitions must stand before all probes, macros and declarations
  5 | struct a { };
    | ^^^^^^
)"},
    {"two_config_blocks", "config = { }\nconfig = { }", R"(
t.bt:2:1: error: there is a 'config' block already
  2 | config = { }
    | ^^^^^^
)"},
    {"let_of_a_variable", "let $x = 1;", R"(
t.bt:1:5: error: expected a map after 'let' outside of probes, found '$x'
  1 | let $x = 1;
    |     ^^
hint: write 'let @name = hash(100);'
)"},
    {"function_parameter", "fn f(x): int64 { return 1; }\nbegin { }", R"(
t.bt:1:6: error: expected a parameter: '$name : type', found 'x'
  1 | fn f(x): int64 { return 1; }
    |      ^
)"},
    {"function_parameter_without_type", "fn f($x) { }\nbegin { }", R"(
t.bt:1:8: error: expected ':' and the type after the name of a parameter, found ')'
  1 | fn f($x) { }
    |        ^
)"},
    {"open_struct", "struct a { int b;", R"(
t.bt:1:1: error: this struct is never closed
  1 | struct a { int b;
    | ^^^^^^
hint: close it with '};'
)"},
};

INSTANTIATE_TEST_SUITE_P(statements, ErrorTable, testing::ValuesIn(kStatements), case_name);
INSTANTIATE_TEST_SUITE_P(expressions, ErrorTable, testing::ValuesIn(kExpressions), case_name);
INSTANTIATE_TEST_SUITE_P(top, ErrorTable, testing::ValuesIn(kTop), case_name);

std::string first_message(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  parse(sources, sources.add("t.bt", text), diagnostics);
  return diagnostics.all().empty() ? "" : diagnostics.all()[0].message;
}

std::string repeat(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; i++) out += text;
  return out;
}

TEST(Parser, deep_nesting_is_an_error_and_not_a_crash) {
  const size_t n = 20'000;
  for (const char* opening : {"(", "{", "!", "f(", "@a[", "if (1) {", "- ", "(uint8)", "1 ? 1 : ",
                              "1 + ", "$a.", "sizeof(", "typeof(", "if (1) { } else "}) {
    std::string message = first_message("begin { " + repeat(opening, n));
    EXPECT_NE(message, "") << opening;
  }
  EXPECT_EQ(first_message("begin { _ = 1" + repeat(" + 1", n) + "; }"),
            "this is nested more than 200 levels deep");
  EXPECT_EQ(first_message("begin { _ = $a" + repeat(".b", n) + "; }"),
            "this is nested more than 200 levels deep");
}

TEST(Parser, usual_nesting_is_accepted) {
  EXPECT_EQ(first_message("begin { _ = " + repeat("(", 100) + "1" + repeat(")", 100) + "; }"), "");
  EXPECT_EQ(first_message("begin { _ = 1" + repeat(" + 1", 1000) + "; }"), "");
  EXPECT_EQ(first_message("begin { " + repeat("if (1) {", 50) + repeat("}", 50) + " }"), "");
}

TEST(Parser, messages_are_limited_in_number) {
  Sources sources;
  Diagnostics diagnostics;
  parse(sources, sources.add("t.bt", "begin { " + repeat("1 1; ", 10'000)), diagnostics);
  EXPECT_LE(diagnostics.all().size(), 51u);
}

}  // namespace
}  // namespace flowtap
