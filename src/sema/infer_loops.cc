// Loops; see infer_loops.h.

#include "sema/infer_loops.h"

#include <fmt/format.h>

#include <utility>

namespace flowtap {

void LoopTypes::need_loop(const Stmt& stmt, const char* word) {
  if (place_.loop_depth == place_.loops_around)
    error(stmt.span, fmt::format("'{}' is only possible inside a loop", word));
}

// The kernel calls the body of a loop back, and allows 8 calls inside each other.
void LoopTypes::enter_loop(Span span) {
  constexpr int kMostNested = 7;
  if (++place_.loop_depth == kMostNested + 1)
    error(span, fmt::format("loops can be nested {} deep at most", kMostNested));
}

void LoopTypes::infer_unroll(const Stmt& stmt, const Unroll& unroll) {
  expressions_.infer(*unroll.count);
  std::optional<int64_t> count = info(*unroll.count).value;
  bool is_good = count && *count >= 1 && *count <= 100;
  if (!count)
    error(unroll.count->span, "the count of 'unroll' must be known at compile time");
  else if (!is_good)
    error(unroll.count->span, fmt::format("'unroll' takes 1 to 100 rounds, found {}", *count));
  infer_rounds(stmt, unroll.body, is_good ? static_cast<uint64_t>(*count) : 1);
}

// The code of all rounds is made, and that of rounds within each other for each of them.
void LoopTypes::infer_rounds(const Stmt& stmt, const Block& body, uint64_t rounds) {
  constexpr uint64_t kMost = 50'000;
  uint64_t before = walk_.expressions, around = std::exchange(walk_.rounds, walk_.rounds * rounds);
  bool is_too_much = walk_.rounds > kMost;
  if (!is_too_much) blocks_.infer_block(body);
  walk_.rounds = around;
  is_too_much |= around == 1 && walk_.expressions - before > kMost;
  if (is_too_much)
    error(stmt.span, fmt::format("this 'unroll' grows to more than {} expressions", kMost))
        .with_hint("use 'for ($i : 0..n) { ... }'");
}

void LoopTypes::infer_while(const Stmt& stmt, const While& loop) {
  Span word{stmt.span.file, stmt.span.begin, stmt.span.begin + 5};
  warning(word, "'while' is old style").with_hint("prefer 'for ($i : 0..n) { ... }'");
  enter_loop(word);
  expressions_.infer_condition(*loop.condition);
  blocks_.infer_block(loop.body);
  place_.loop_depth--;
}

void LoopTypes::infer_for_range(const Stmt& stmt, const ForRange& loop) {
  for (const Expr* bound : {loop.begin.get(), loop.end.get()})
    if (Type type = expressions_.infer_value(*bound); !is_integer(type) && !is(type, Kind::Unknown))
      error(bound->span,
            fmt::format("the bounds of a range are integers, found '{}'", type_name(type)));
  stores_.assign_variable_type(place_.instance->declares.at(&stmt), {int_type(8, true)},
                               loop.name_span);
  enter_loop(loop.name_span);
  blocks_.infer_block(loop.body);
  place_.loop_depth--;
}

void LoopTypes::infer_for_map(const Stmt& stmt, const ForMap& loop) {
  if (!std::holds_alternative<MapAccess>(loop.map->node)) {
    error(loop.map->span, "'for' goes over a map or a range")
        .with_hint("write 'for ($kv : @map)' or 'for ($i : 0..10)'");
    return;
  }
  MapInfo& map = stores_.reach_map(*loop.map);
  if (map.is_scalar == true) {
    error(loop.map->span, fmt::format("'{}' has no keys, so no loop can go over it", map.name))
        .with_note(map.span, "first used here");
    return;
  }
  stores_.use_map(*loop.map, true);
  Type key = map.key, value = readable(map.value);
  if (is(value, Kind::Stats))  // in the order in which they are kept
    value = record_type({{"total", int_type(8, value->is_signed)}, {"count", int_type(8, false)}});
  if (!is(key, Kind::Unknown) && !is(value, Kind::Unknown)) {
    if (is_aggregation(value))
      error(loop.map->span, fmt::format("'{}' holds '{}' values, which cannot be read one by one",
                                        map.name, type_name(value)));
    else
      stores_.assign_variable_type(place_.instance->declares.at(&stmt), {tuple_type({key, value})},
                                   loop.name_span);
  }
  enter_loop(loop.name_span);
  blocks_.infer_block(loop.body);
  place_.loop_depth--;
}

}  // namespace flowtap
