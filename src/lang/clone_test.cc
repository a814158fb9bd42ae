// A copy prints like the original and shares no id with it.

#include "lang/clone.h"

#include <gtest/gtest.h>

#include "lang/parser.h"
#include "lang/printer.h"

namespace flowtap {
namespace {

// Every kind of node there is.
constexpr const char* kEverything = R"(
begin {
  let $x: uint8[4] = (typeof(1))2;
  $x = -$1 + "a" == @m[1, true] ? { f(pid); 1 } : $y ?: ++$z;
  @a += if comptime (1) { comptime 2 } else { 3 };
  if (1) { break } else { continue; }
  while (1) { $a->b.c[1]; @n--; }
  unroll (2) { return 1; }
  for ($i : 0..5) { g(typeof($x), sizeof($x), sizeof(uint8), offsetof(struct s, a.b)); }
  for ($kv : @m) { _ = ($kv.0, (a=1, b=2), ()); }
  { &$x; *$x; !$x; ~$x; }
  emit rows(1, $x);
}
)";

TEST(Clone, copies_every_kind_of_node) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources, sources.add("t.bt", kEverything), diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << render(diagnostics.all()[0], sources);
  std::string before = print_ast(ast);
  Block copy = clone(ast.probes[0].body, ast.next_id);
  ast.probes[0].body = std::move(copy);
  EXPECT_EQ(print_ast(ast), before);
}

TEST(Clone, gives_fresh_ids) {
  Sources sources;
  Diagnostics diagnostics;
  uint32_t next_id = 1;
  ExprPtr expr = parse_expression("a + b", Span{}, next_id, diagnostics);
  uint32_t fresh = next_id;
  ExprPtr copy = clone(expr, next_id);
  EXPECT_GE(copy->id, fresh);
  EXPECT_GE(std::get<Binary>(copy->node).left->id, fresh);
  EXPECT_EQ(next_id, fresh + 3);
  EXPECT_EQ(copy->span, expr->span);
}

}  // namespace
}  // namespace flowtap
