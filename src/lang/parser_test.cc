// Tables of script text in, printed tree out. Messages are in parser_error_test.cc.

#include "lang/parser.h"

#include <gtest/gtest.h>

#include "lang/printer.h"

namespace flowtap {
namespace {

std::string messages(const Sources& sources, const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, sources);
  return out;
}

std::string parsed(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  ParseOptions options;
  options.is_builtin = [](std::string_view name) { return name == "pid"; };
  Ast ast = parse(sources, sources.add("t.bt", text), diagnostics, options);
  return messages(sources, diagnostics) + print_ast(ast);
}

struct Case {
  const char* name;
  const char* text;
  const char* expected;  // begins with a newline, which is not part of it
};

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

// An expression, seen as the value of `_ = ...`.
class ExpressionTable : public testing::TestWithParam<Case> {};

TEST_P(ExpressionTable, parses) {
  Sources sources;
  Diagnostics diagnostics;
  ParseOptions options;
  options.is_builtin = [](std::string_view name) { return name == "pid"; };
  uint32_t next_id = 1;
  uint32_t file = sources.add("t.bt", GetParam().text);
  ExprPtr expr = parse_expression(GetParam().text, Span{file, 0, 0}, next_id, diagnostics, options);
  std::string out = messages(sources, diagnostics) + (expr ? print_expr(*expr) : "");
  EXPECT_EQ("\n" + out, GetParam().expected);
}

const Case kOperators[] = {
    {"product_before_sum", "1 + 2 * 3", R"(
binary +
  integer 1
  binary *
    integer 2
    integer 3
)"},
    {"same_level_from_the_left", "1 - 2 + 3", R"(
binary +
  binary -
    integer 1
    integer 2
  integer 3
)"},
    {"all_levels", "a || b && c | d ^ e & f == g < h << i + j * !k", R"(
binary ||
  identifier a
  binary &&
    identifier b
    binary |
      identifier c
      binary ^
        identifier d
        binary &
          identifier e
          binary ==
            identifier f
            binary <
              identifier g
              binary <<
                identifier h
                binary +
                  identifier i
                  binary *
                    identifier j
                    unary !
                      identifier k
)"},
    {"ternary_from_the_right", "a ? b : c ?: d", R"(
ternary
  identifier a
  identifier b
  ternary ?:
    identifier c
    identifier d
)"},
    {"unary_chain", "-~*&$x", R"(
unary -
  unary ~
    unary *
      unary &
        variable $x
)"},
    {"increments", "++$a + @b[1]--", R"(
binary +
  prefix ++
    variable $a
  postfix --
    map @b
      integer 1
)"},
    {"comptime", "comptime 1", R"(
comptime
  integer 1
)"},
};

const Case kAccess[] = {
    {"arrow_is_dot", "args->a.b", R"(
member b
  member a
    identifier args
)"},
    {"tuple_fields", "$kv.0.1", R"(
member 1
  member 0
    variable $kv
)"},
    {"keyword_as_field", "$x->struct", R"(
member struct
  variable $x
)"},
    {"index", "$a[1][2]", R"(
index
  index
    variable $a
    integer 1
  integer 2
)"},
    {"map_with_several_keys", "@m[1, \"a\"]", R"(
map @m
  tuple
    integer 1
    string "a"
)"},
    {"map_with_tuple_key", "@[(1, 2)]", R"(
map @
  tuple
    integer 1
    integer 2
)"},
    {"second_index_of_map_is_an_index", "@m[1][2]", R"(
index
  map @m
    integer 1
  integer 2
)"},
    {"tuples", "((), (1,), (1, 2,))", R"(
tuple
  tuple
  tuple
    integer 1
  tuple
    integer 1
    integer 2
)"},
    {"record", "(a = 1, b = (c = 2))", R"(
record
  field a
    integer 1
  field b
    record
      field c
        integer 2
)"},
    {"parameters", "$1 + $#", R"(
binary +
  parameter $1
  parameter $#
)"},
    {"config_is_a_value_too", "config.max_strlen", R"(
member max_strlen
  identifier config
)"},
};

const Case kTypes[] = {
    {"cast", "(uint64)$x + 1", R"(
binary +
  cast
    type uint64
    variable $x
  integer 1
)"},
    {"cast_to_struct_pointer", "((struct sock *)arg0)->x", R"(
member x
  cast
    type struct sock *
    identifier arg0
)"},
    {"cast_to_array", "(int8[8])-1", R"(
cast
  type int8[8]
  unary -
    integer 1
)"},
    {"cast_to_open_array_of_pointers", "(int32*[])x", R"(
cast
  type int32 *[]
  identifier x
)"},
    {"cast_to_c_integer", "(unsigned long)x", R"(
cast
  type unsigned long
  identifier x
)"},
    {"cast_by_typeof", "(typeof($a + 1))x", R"(
cast
  type typeof(...)
    binary +
      variable $a
      integer 1
  identifier x
)"},
    {"name_before_star_casts", "(foo)*x", R"(
cast
  type foo
  unary *
    identifier x
)"},
    {"builtin_before_star_multiplies", "(pid)*x", R"(
binary *
  identifier pid
  identifier x
)"},
    {"name_before_operand_casts", "(foo)$x", R"(
cast
  type foo
  variable $x
)"},
    {"name_alone_is_a_value", "(foo) + 1", R"(
binary +
  identifier foo
  integer 1
)"},
    {"element_alone_is_a_value", "(foo[1]) * 2", R"(
binary *
  index
    identifier foo
    integer 1
  integer 2
)"},
    {"sizeof_type_and_value", "sizeof(struct x) + sizeof(uint8[4]) + sizeof($x)", R"(
binary +
  binary +
    sizeof
      type struct x
    sizeof
      type uint8[4]
  sizeof
    variable $x
)"},
    {"offsetof", "offsetof(struct x, a.b)", R"(
offsetof a.b
  type struct x
)"},
    {"offsetof_of_value", "offsetof($x, a)", R"(
offsetof a
  variable $x
)"},
    {"types_as_arguments", "f(typeof(uint8 *), struct x, typeinfo($x))", R"(
call f
  typeof
    type uint8 *
  typeof
    type struct x
  call typeinfo
    typeof
      type typeof(...)
        variable $x
)"},
};

INSTANTIATE_TEST_SUITE_P(operators, ExpressionTable, testing::ValuesIn(kOperators), case_name);
INSTANTIATE_TEST_SUITE_P(access, ExpressionTable, testing::ValuesIn(kAccess), case_name);
INSTANTIATE_TEST_SUITE_P(types, ExpressionTable, testing::ValuesIn(kTypes), case_name);

class ProgramTable : public testing::TestWithParam<Case> {};

TEST_P(ProgramTable, parses) { EXPECT_EQ("\n" + parsed(GetParam().text), GetParam().expected); }

const Case kProbes[] = {
    {"attach_points_are_text", "uprobe:/lib/*/x.so:\"a:b {\",usdt:/bin/x:y:z,\n t:*:s* {}", R"(
probe uprobe:/lib/*/x.so:a:b {, usdt:/bin/x:y:z, t:*:s*
)"},
    {"predicate_without_colon_needs_no_blank", "BEGIN/pid==1/{}", R"(
probe BEGIN
  predicate
    binary ==
      identifier pid
      integer 1
)"},
    {"slash_before_brace_closes_predicate", "k:f /pid / 2 == 1/ // why\n { }", R"(
probe k:f
  predicate
    binary ==
      binary /
        identifier pid
        integer 2
      integer 1
)"},
    {"trailing_comma", "k:f, k:g, /1/ {} k:h, {}", R"(
probe k:f, k:g
  predicate
    integer 1
probe k:h
)"},
    {"name", "slow = interval:s:1 {}", R"(
probe slow = interval:s:1
)"},
    {"source_line", "uprobe:/bin/x@a.c:12 {}", R"(
probe uprobe:/bin/x:@a.c:12
)"},
};

const Case kDeclarations[] = {
    {"c_definitions_are_text",
     "#include <a.h>\n#define X 1\nstruct a { int b; /* } */ } __attribute__((packed));\n"
     "enum e { A }\nunion u;\nbegin {}",
     R"(
c "#include <a.h>"
c "#define X 1"
c "struct a { int b; /* } */ } __attribute__((packed));"
c "enum e { A }"
c "union u;"
probe begin
)"},
    {"plot", "plot lines A, B by C mark D \"x\"; plot = begin { }",
     R"(
plot lines A, B by C mark D "x"
probe plot = begin
)"},
    {"plot_of_a_map", "plot heat @usecs in us;", R"(
plot heat @usecs in us
)"},
    {"tables_and_rows",
     "table t { us LAT \"a \\\"b\\\"\"; enum x WHY \"why\"; enum COLOR \"c\"; }\n"
     "begin { emit t(1, $x, @m); table(2); $emit = 3; }",
     R"(
table t
  us LAT "a \"b\""
  enum x WHY "why"
  enum COLOR "c"
probe begin
  emit t
    integer 1
    variable $x
    map @m
  call table
    integer 2
  assign
    variable $emit
    integer 3
)"},
    {"config_and_imports",
     "config = { max_strlen = 64; LICENSE = \"GPL v2\"; a = true; b = PER_PID }\n"
     "import \"x.bt\"; config2 = begin { }",
     R"(
config max_strlen = "64"
config LICENSE = "GPL v2"
config a = "true"
config b = "PER_PID"
import "x.bt"
probe config2 = begin
)"},
    {"map_declaration", "let @a = lruhash(1_000);", R"(
declare @a lruhash 1000
)"},
    {"typed_map_declaration",
     "let @a[uint32, struct sock *] : string[16] = hash(9) per report; let @b[uint8]; let @c : "
     "bool;",
     R"(
declare @a[uint32, struct sock *] : string[16] hash 9 per report
declare @b[uint8]
declare @c : bool
)"},
    {"macro", "macro m($v, @m, x) { @m = x; (x)*2 }", R"(
macro m($v, @m, x)
  assign
    map @m
    identifier x
  value
    binary *
      identifier x
      integer 2
)"},
    {"define_before_star_multiplies", "#define N 2\nbegin { _ = (N)*$x }", R"(
c "#define N 2"
probe begin
  discard
    binary *
      identifier N
      variable $x
)"},
};

const Case kStatements[] = {
    {"assignments", "begin { $x = 1; @a[1] <<= 2; _ = f(); let $y; let $z: uint8 = 1 }", R"(
probe begin
  assign
    variable $x
    integer 1
  assign <<=
    map @a
      integer 1
    integer 2
  discard
    call f
  let $y
  let $z
    type uint8
    integer 1
)"},
    {"branches", "begin { if $x { f() } else if (1) { g(); } else { h() } return 1; }", R"(
probe begin
  if
    variable $x
    then
      call f
    else
      if
        integer 1
        then
          call g
        else
          call h
  return
    integer 1
)"},
    {"comptime_branch", "begin { if comptime (a) { } return }", R"(
probe begin
  if comptime
    identifier a
    then
  return
)"},
    {"loops",
     "begin { while ($i < 5) { $i++ } unroll (3) { break } unroll 2 { continue; }\n"
     "for ($i : 0..$n) { } for $i : (1+1)..3 { } for ($kv : @m) { ; } }",
     R"(
probe begin
  while
    binary <
      variable $i
      integer 5
    do
      postfix ++
        variable $i
  unroll
    integer 3
    do
      break
  unroll
    integer 2
    do
      continue
  for $i
    integer 0
    variable $n
    do
  for $i
    binary +
      integer 1
      integer 1
    integer 3
    do
  for $kv
    map @m
    do
)"},
    {"block_with_value", "begin { $x = { $y = 1; $y + 1 }; { f() } }", R"(
probe begin
  assign
    variable $x
    block
      assign
        variable $y
        integer 1
      value
        binary +
          variable $y
          integer 1
  block
    call f
)"},
    {"branch_with_value", "begin { $x = if (1) { 2 } else if (3) { 4 } else { 5 }; }", R"(
probe begin
  assign
    variable $x
    if
      integer 1
      then
        value
          integer 2
      else
        value
          if
            integer 3
            then
              value
                integer 4
            else
              value
                integer 5
)"},
    {"last_branch_gives_the_value_of_a_block", "macro m(x) { if (x) { 1 } else { 2 } }", R"(
macro m(x)
  value
    if
      identifier x
      then
        value
          integer 1
      else
        value
          integer 2
)"},
    {"branch_without_else_has_no_value", "macro m(x) { if (x) { 1 } }", R"(
macro m(x)
  if
    identifier x
    then
      integer 1
)"},
};

INSTANTIATE_TEST_SUITE_P(probes, ProgramTable, testing::ValuesIn(kProbes), case_name);
INSTANTIATE_TEST_SUITE_P(declarations, ProgramTable, testing::ValuesIn(kDeclarations), case_name);
INSTANTIATE_TEST_SUITE_P(statements, ProgramTable, testing::ValuesIn(kStatements), case_name);

TEST(Parser, ids_are_unique_and_continue_from_the_first_given) {
  Sources sources;
  Diagnostics diagnostics;
  ParseOptions options;
  options.first_id = 100;
  Ast ast = parse(sources, sources.add("t.bt", "begin { _ = 1 + 2 }"), diagnostics, options);
  const Assign& assign = std::get<Assign>(ast.probes[0].body.stmts[0]->node);
  const Binary& sum = std::get<Binary>(assign.value->node);
  EXPECT_EQ(sum.left->id, 100u);
  EXPECT_EQ(sum.right->id, 101u);
  EXPECT_EQ(assign.value->id, 102u);
  EXPECT_EQ(ast.next_id, 103u);
}

TEST(Parser, spans_cover_what_was_written) {
  Sources sources;
  Diagnostics diagnostics;
  std::string text = "k:f /1/ { @m[1, 2] = (a + b)->c; }";
  Ast ast = parse(sources, sources.add("t.bt", text), diagnostics);
  const Stmt& stmt = *ast.probes[0].body.stmts[0];
  const Assign& assign = std::get<Assign>(stmt.node);
  EXPECT_EQ(sources.text(ast.probes[0].span), "k:f");
  EXPECT_EQ(sources.text(stmt.span), "@m[1, 2] = (a + b)->c");
  EXPECT_EQ(sources.text(assign.target->span), "@m[1, 2]");
  EXPECT_EQ(sources.text(assign.value->span), "(a + b)->c");
  EXPECT_EQ(sources.text(std::get<MapAccess>(assign.target->node).key->span), "1, 2");
}

}  // namespace
}  // namespace flowtap
