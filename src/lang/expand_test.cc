// Tables of scripts in, expanded trees or messages out. The words given are: $1 = 42, $2 = hello,
// $3 = -5, $4 = 0x10.

#include "lang/expand.h"

#include <gtest/gtest.h>

#include "lang/parser.h"
#include "lang/printer.h"

namespace flowtap {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* expected;  // begins with a newline, which is not part of it
};

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

std::string messages(const Sources& sources, const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, sources);
  return out;
}

Ast expanded(Sources& sources, const std::string& text, Diagnostics& diagnostics) {
  Ast ast = parse(sources, sources.add("t.bt", text), diagnostics);
  CDeclarations c = parse_c(ast.c_definitions, {}, diagnostics);
  expand(ast, c.defines, {{"42", "hello", "-5", "0x10"}}, diagnostics);
  return ast;
}

// The probes only: what was expanded is not shown again.
class ExpandTable : public testing::TestWithParam<Case> {};

TEST_P(ExpandTable, gives) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = expanded(sources, GetParam().text, diagnostics);
  ast.macros.clear();
  ast.c_definitions.clear();
  EXPECT_EQ("\n" + messages(sources, diagnostics) + print_ast(ast), GetParam().expected);
}

const Case kParameters[] = {
    {"numbers_and_words", "begin { f($1, $2, $3, $4, $#) }", R"(
probe begin
  call f
    integer 42
    string "hello"
    unary -
      integer 5
    integer 16
    integer 4
)"},
    {"str_takes_the_word", "begin { f(str($1), str($2, 3), str($2 + 1), str($1 + 1 * 1)) }", R"(
probe begin
  call f
    call str
      string "42"
    call str
      string "hello"
      integer 3
    call str
      string "ello"
    call str
      string "2"
)"},
    {"sum_of_a_number_is_a_sum", "begin { f($1 + 1, $2 + 4) }", R"(
probe begin
  call f
    binary +
      integer 42
      integer 1
    string "o"
)"},
    {"not_given", "begin { f($5, str($6)); }", R"(
t.bt:1:11: warning: parameter '$5' was not given, using 0 instead
  1 | begin { f($5, str($6)); }
    |           ^^
t.bt:1:19: warning: parameter '$6' was not given, using "" instead
  1 | begin { f($5, str($6)); }
    |                   ^^
probe begin
  call f
    integer 0
    call str
      string ""
)"},
    {"tail_beyond_the_end", "begin { _ = str($2 + 5); }", R"(
t.bt:1:17: warning: this string is always empty: parameter '$2' has 5 characters
  1 | begin { _ = str($2 + 5); }
    |                 ^^^^^^
probe begin
  discard
    call str
      string ""
)"},
    {"attach_points", "uprobe:$2:f$1,k:\"$1\" /pid == $1/ { }", R"(
probe uprobe:hello:f42, k:$1
  predicate
    binary ==
      identifier pid
      integer 42
)"},
    {"attach_point_mistakes", "k:$x { } k:$9 { }", R"(
t.bt:1:1: error: only parameters such as '$1' can stand in an attach point
  1 | k:$x { } k:$9 { }
    | ^^^^
hint: put quotes around a name that holds a '$'
t.bt:1:10: error: this attach point needs parameter '$9', which was not given
  1 | k:$x { } k:$9 { }
    |          ^^^^
probe k:x
probe k:
)"},
};

const Case kDefines[] = {
    {"names_stand_for_expressions",
     "#define A B + 1\n#define B 2\n#define F(x) x\nbegin { _ = A * 3; F(1); f(F) }", R"(
probe begin
  discard
    binary *
      binary +
        integer 2
        integer 1
      integer 3
  call F
    integer 1
  call f
    identifier F
)"},
    {"defines_in_a_circle_stop", "#define A B\n#define B A\nbegin { _ = A }", R"(
probe begin
  discard
    identifier A
)"},
    {"not_an_expression", "#define A 1 +\nbegin { _ = A; }", R"(
t.bt:2:13: error: 'A' does not stand for an expression
  2 | begin { _ = A; }
    |             ^
t.bt:1:11: note: it is defined here
  1 | #define A 1 +
    |           ^^^
probe begin
  discard
    identifier A
)"},
};

const Case kMacros[] = {
    {"value", "macro twice(x) { x * 2 }\nbegin { _ = twice(1 + 2) }", R"(
probe begin
  discard
    binary *
      binary +
        integer 1
        integer 2
      integer 2
)"},
    {"no_parentheses_needed_without_arguments", "macro a() { 1 }\nbegin { _ = a + a() }", R"(
probe begin
  discard
    binary +
      integer 1
      integer 1
)"},
    {"locals_are_renamed_and_references_are_not",
     "macro m($v, @m, x) { let $t = x; $v = $t; @m[$t] = $v; for ($i : 0..x) { f($i) } $t }\n"
     "begin { $t = 1; m($t, @a, $t); }",
     R"(
probe begin
  assign
    variable $t
    integer 1
  block
    let $t#1
      variable $t
    assign
      variable $t
      variable $t#1
    assign
      map @a
        variable $t#1
      variable $t
    for $i#1
      integer 0
      variable $t
      do
        call f
          variable $i#1
    value
      variable $t#1
)"},
    {"macros_use_macros",
     "macro a(x) { $t = x; $t }\nmacro b(x) { a(x) + 1 }\nbegin { _ = b(b($1)) }", R"(
probe begin
  discard
    binary +
      block
        assign
          variable $t#4
          binary +
            block
              assign
                variable $t#2
                integer 42
              value
                variable $t#2
            integer 1
        value
          variable $t#4
      integer 1
)"},
    {"overloads",
     "macro m(x) { 1 }\nmacro m($x) { 2 }\nmacro m(@x) { 3 }\nmacro m(a, b) { 4 }\n"
     "begin { f(m(5), m($a), m(@a), m(@a[1]), m(1, 2)) }",
     R"(
probe begin
  call f
    integer 1
    integer 2
    integer 3
    integer 1
    integer 4
)"},
    {"types",
     "macro m(T, x) { f((T)x, (T*)x, sizeof(T), offsetof(T, a), n(T)) }\n"
     "macro n(U) { let $u: U[2]; (typeof(U))1 }\nbegin { m(typeof(struct s), $1) }",
     R"(
probe begin
  call f
    cast
      type struct s
      integer 42
    cast
      type struct s *
      integer 42
    sizeof
      type struct s
    offsetof a
      type struct s
    block
      let $u#2
        type struct s[2]
      value
        cast
          type struct s
          integer 1
)"},
    {"parameter_inside_macro_is_text_for_str", "macro m(x) { str(x) }\nbegin { _ = m($1) }", R"(
probe begin
  discard
    call str
      string "42"
)"},
    {"define_inside_macro", "#define N 3\nmacro m(x) { x + N }\nbegin { _ = m(1) }", R"(
probe begin
  discard
    binary +
      integer 1
      integer 3
)"},
};

const Case kErrors[] = {
    {"recursion", "macro a(x) { b(x) }\nmacro b(x) { a(x) }\nbegin { a(1) }", R"(
t.bt:2:14: error: macro 'a' uses itself: a > b > a
  2 | macro b(x) { a(x) }
    |              ^^^^
t.bt:1:14: note: expanded from 'b' here
  1 | macro a(x) { b(x) }
    |              ^^^^
t.bt:3:9: note: expanded from 'a' here
  3 | begin { a(1) }
    |         ^^^^
probe begin
  call a
    integer 1
)"},
    {"no_definition_fits", "macro m($x) { 1 }\nmacro m(a, b) { 2 }\nbegin { m(1) }", R"(
t.bt:3:9: error: no definition of macro 'm' takes these arguments
  3 | begin { m(1) }
    |         ^^^^
t.bt:1:1: note: 'm($x)' is defined here
  1 | macro m($x) { 1 }
    | ^^^^^^^^^^^
t.bt:2:1: note: 'm(a, b)' is defined here
  2 | macro m(a, b) { 2 }
    | ^^^^^^^^^^^^^
probe begin
  call m
    integer 1
)"},
    {"defined_twice", "macro m(x) { 1 }\nmacro m(y) { 2 }\n", R"(
t.bt:2:1: error: macro 'm(y)' is defined twice
  2 | macro m(y) { 2 }
    | ^^^^^^^^^^
t.bt:1:1: note: first defined here
  1 | macro m(x) { 1 }
    | ^^^^^^^^^^
)"},
    {"map_not_passed", "macro m(x) { @a = x; }\nbegin { m(1) }", R"(
t.bt:1:14: error: macro 'm' uses map '@a', which was not passed to it
  1 | macro m(x) { @a = x; }
    |              ^^
t.bt:2:9: note: expanded from 'm' here
  2 | begin { m(1) }
    |         ^^^^
hint: make '@a' a parameter of the macro
probe begin
  block
    assign
      map @a
      integer 1
)"},
    {"value_where_a_type_is_needed", "macro m(T) { (T)$x }\nbegin { m(1) }", R"(
t.bt:2:11: error: macro 'm' uses its parameter 'T' as a type, found a value
  2 | begin { m(1) }
    |           ^
t.bt:2:9: note: expanded from 'm' here
  2 | begin { m(1) }
    |         ^^^^
hint: pass a type as 'typeof(type)'
probe begin
  cast
    type T
    variable $x#1
)"},
};

INSTANTIATE_TEST_SUITE_P(parameters, ExpandTable, testing::ValuesIn(kParameters), case_name);
INSTANTIATE_TEST_SUITE_P(defines, ExpandTable, testing::ValuesIn(kDefines), case_name);
INSTANTIATE_TEST_SUITE_P(macros, ExpandTable, testing::ValuesIn(kMacros), case_name);
INSTANTIATE_TEST_SUITE_P(errors, ExpandTable, testing::ValuesIn(kErrors), case_name);

TEST(Expand, script_macro_wins_over_one_of_another_file) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources, sources.add("t.bt", "macro m() { 1 } begin { _ = m }"), diagnostics);
  ParseOptions options;
  options.first_id = ast.next_id;
  Ast other = parse(sources, sources.add("lib.bt", "macro m() { 2 }"), diagnostics, options);
  ast.next_id = other.next_id;
  ast.macros.insert(ast.macros.begin(), std::move(other.macros[0]));
  expand(ast, {}, {}, diagnostics);
  ast.macros.clear();
  EXPECT_EQ(messages(sources, diagnostics) + print_ast(ast),
            "probe begin\n  discard\n    integer 1\n");
}

TEST(Expand, notes_tell_where_an_expression_came_from) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = expanded(sources, "macro a(x) { x + oops }\nmacro b(x) { a(x) }\nbegin { _ = b(1); }",
                     diagnostics);
  const Assign& assign = std::get<Assign>(ast.probes[0].body.stmts[0]->node);
  const Expr& oops = *std::get<Binary>(assign.value->node).right;
  Diagnostic& message = diagnostics.error(oops.span, "unknown name 'oops'");
  add_expansion_notes(message, ast, oops.id);
  EXPECT_EQ("\n" + messages(sources, diagnostics), R"(
t.bt:1:18: error: unknown name 'oops'
  1 | macro a(x) { x + oops }
    |                  ^^^^
t.bt:2:14: note: expanded from 'a' here
  2 | macro b(x) { a(x) }
    |              ^^^^
t.bt:3:13: note: expanded from 'b' here
  3 | begin { _ = b(1); }
    |             ^^^^
)");
}

TEST(Expand, written_name_drops_the_mark) {
  EXPECT_EQ(written_name("t#3"), "t");
  EXPECT_EQ(written_name("t"), "t");
}

std::string first_message(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  expanded(sources, text, diagnostics);
  return diagnostics.all().empty() ? "" : diagnostics.all()[0].message;
}

TEST(Expand, macros_that_grow_without_end_are_stopped) {
  std::string doubling = "macro m0() { 1 + 1 }\n";
  std::string deepening = "macro m0(x) { x }\n";
  for (int i = 1; i < 45; i++) {
    std::string name = "macro m" + std::to_string(i), inner = "m" + std::to_string(i - 1);
    doubling += name + "() { " + inner + " + " + inner + " }\n";
    deepening += name + "(x) { " + std::string(900, '!') + inner + "(x) }\n";
  }
  EXPECT_EQ(first_message(doubling + "begin { m44 }"),
            "macros and functions grow to more than 200000 expressions");
  EXPECT_EQ(first_message(deepening + "begin { m44(1) }"),
            "this is nested too deeply once its macros are expanded");
  EXPECT_EQ(first_message("macro m(x) { " + std::string(900, '!') + "x }\nbegin { m(m(m(1))) }"),
            "this is nested too deeply once its macros are expanded");
}

TEST(Expand, copies_of_large_arguments_are_limited) {
  std::string sum = "x";
  for (int i = 0; i < 900; i++) sum += " + x";
  EXPECT_EQ(first_message("macro m(x) { " + sum + " }\nbegin { m(m(1)); m(1); m(1) }"),
            "this argument is copied too often by macros");
}

}  // namespace
}  // namespace flowtap
