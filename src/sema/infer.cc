// Inference over statements, and what assignments do to variables and maps; see infer.h.

#include "sema/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "builtins/probes.h"
#include "lang/expand.h"

namespace flowtap {

Diagnostic& Inferrer::error(Span span, std::string message) {
  return report((is_last_walk_ ? diagnostics_ : silent_).error(span, std::move(message)));
}

Diagnostic& Inferrer::warning(Span span, std::string message) {
  return report((is_last_walk_ ? diagnostics_ : silent_).warning(span, std::move(message)));
}

// Says where the macros were used that a mistake came from.
Diagnostic& Inferrer::report(Diagnostic& diagnostic) {
  if (is_last_walk_ && current_ < program_.origins.size())
    add_expansion_notes(diagnostic, ast_, program_.origins[current_]);
  return diagnostic;
}

void Inferrer::run() {
  // Types only widen, so this ends; the bound guards against a mistake of ours.
  constexpr int kMostWalks = 64;
  auto walk = [&] {
    for (walks_ = 0; walks_ < kMostWalks && walk_everything(); walks_++) {
    }
  };
  walk();
  // `@m = @m + 1` alone: what is counted with and has no other type is a number.
  bool is_open = std::any_of(program_.maps.begin(), program_.maps.end(), [](const MapInfo& map) {
    return map.is_reached && is(map.value, Kind::Unknown);
  });
  if (is_open) {
    assumes_numbers_ = true;
    walk();
  }
  is_last_walk_ = true;
  if (changed_ || has_more_to_say_) walk_everything();
  finish_maps();
  finish_variables();
}

bool Inferrer::walk_everything() {
  changed_ = has_more_to_say_ = false;
  for (std::unique_ptr<Instance>& instance : program_.instances) infer_instance(*instance);
  has_more_to_say_ |= !silent_.all().empty();
  silent_.clear();
  return changed_;
}

void Inferrer::infer_instance(Instance& instance) {
  instance_ = &instance;
  loop_depth_ = loops_around_ = 0;
  function_ = nullptr;
  if (instance.predicate) infer_condition(*instance.predicate);
  infer_block(instance.body);
}

bool Inferrer::is_exit(const Stmt& stmt) {
  const ExprStmt* call = std::get_if<ExprStmt>(&stmt.node);
  const Builtin* builtin = call ? info(*call->expr).builtin : nullptr;
  return builtin && builtin->id == Fn::Exit;
}

void Inferrer::infer_block(const Block& block) {
  bool left = false;
  for (const StmtPtr& stmt : block.stmts) {
    if (left) {
      warning(stmt->span, "this statement is never reached");
      left = false;
    }
    infer_stmt(*stmt);
    left |= std::holds_alternative<Return>(stmt->node) ||
            std::holds_alternative<Break>(stmt->node) ||
            std::holds_alternative<Continue>(stmt->node) || is_exit(*stmt);
  }
  if (block.result) infer(*block.result);
}

void Inferrer::infer_stmt(const Stmt& stmt) {
  std::visit(
      Overloaded{
          [&](const ExprStmt& n) {
            infer(*n.expr);
            current_ = n.expr->id;
            const Builtin* builtin = info(*n.expr).builtin;
            bool is_step = std::holds_alternative<Increment>(n.expr->node);
            bool is_block = std::holds_alternative<BlockExpr>(n.expr->node) ||
                            std::holds_alternative<IfExpr>(n.expr->node) ||
                            std::holds_alternative<FnCall>(n.expr->node);
            if (!is_step && !is_block && !(builtin && builtin->has(kAction)) &&
                !is(info(*n.expr).type, Kind::Unknown) && !is(info(*n.expr).type, Kind::None))
              warning(n.expr->span, "the value of this expression is not used");
          },
          [&](const Assign& n) { infer_assign(stmt, n); },
          [&](const Let& n) { infer_let(stmt, n); },
          [&](const If& n) { infer_branches(*n.condition, n.then, n.otherwise, n.is_comptime); },
          [&](const While& n) {
            Span word{stmt.span.file, stmt.span.begin, stmt.span.begin + 5};
            warning(word, "'while' is old style").with_hint("prefer 'for ($i : 0..n) { ... }'");
            enter_loop(word);
            infer_condition(*n.condition);
            infer_block(n.body);
            loop_depth_--;
          },
          [&](const Unroll& n) { infer_unroll(stmt, n); },
          [&](const ForRange& n) { infer_for_range(stmt, n); },
          [&](const ForMap& n) { infer_for_map(stmt, n); },
          [&](const Return& n) { infer_return(stmt, n); },
          [&](const Emit& n) { infer_emit(stmt, n); },
          [&](const Block& n) { infer_block(n); },
          [&](const Break&) { need_loop(stmt, "break"); },
          [&](const Continue&) { need_loop(stmt, "continue"); },
      },
      stmt.node);
}

void Inferrer::need_loop(const Stmt& stmt, const char* word) {
  if (loop_depth_ == loops_around_)
    error(stmt.span, fmt::format("'{}' is only possible inside a loop", word));
}

// The kernel calls the body of a loop back, and allows 8 calls inside each other.
void Inferrer::enter_loop(Span span) {
  constexpr int kMostNested = 7;
  if (++loop_depth_ == kMostNested + 1)
    error(span, fmt::format("loops can be nested {} deep at most", kMostNested));
}

void Inferrer::infer_condition(const Expr& condition) {
  infer(condition);
  check_condition(condition);
}

void Inferrer::check_condition(const Expr& condition) {
  Type type = readable(info(condition).type);
  bool can_be_tested = is_scalar(type) || is(type, Kind::String) || is(type, Kind::Unknown);
  if (!can_be_tested)
    error(condition.span,
          fmt::format("a condition must be an integer, bool, pointer or string, found '{}'",
                      type_name(type)));
}

// A branch that the machine's answer rules out, or that 'comptime' does, is not looked at.
void Inferrer::infer_branches(const Expr& condition, const Block& then, const Block& otherwise,
                              bool is_comptime) {
  infer_condition(condition);
  std::optional<int64_t> value = info(condition).value;
  is_comptime |= info(condition).is_question;
  if (is_comptime && !value && !is(info(condition).type, Kind::Unknown))
    error(condition.span, "this condition is not known at compile time");
  if (!is_comptime || !value || *value) infer_block(then);
  if (!is_comptime || !value || !*value) infer_block(otherwise);
}

void Inferrer::infer_unroll(const Stmt& stmt, const Unroll& unroll) {
  infer(*unroll.count);
  std::optional<int64_t> count = info(*unroll.count).value;
  bool is_good = count && *count >= 1 && *count <= 100;
  if (!count)
    error(unroll.count->span, "the count of 'unroll' must be known at compile time");
  else if (!is_good)
    error(unroll.count->span, fmt::format("'unroll' takes 1 to 100 rounds, found {}", *count));
  infer_rounds(stmt, unroll.body, is_good ? static_cast<uint64_t>(*count) : 1);
}

// The code of all rounds is made, and that of rounds within each other for each of them.
void Inferrer::infer_rounds(const Stmt& stmt, const Block& body, uint64_t rounds) {
  constexpr uint64_t kMost = 50'000;
  uint64_t before = expressions_, around = std::exchange(rounds_, rounds_ * rounds);
  bool is_too_much = rounds_ > kMost;
  if (!is_too_much) infer_block(body);
  rounds_ = around;
  is_too_much |= around == 1 && expressions_ - before > kMost;
  if (is_too_much)
    error(stmt.span, fmt::format("this 'unroll' grows to more than {} expressions", kMost))
        .with_hint("use 'for ($i : 0..n) { ... }'");
}

void Inferrer::infer_for_range(const Stmt& stmt, const ForRange& loop) {
  for (const Expr* bound : {loop.begin.get(), loop.end.get()})
    if (Type type = infer_value(*bound); !is_integer(type) && !is(type, Kind::Unknown))
      error(bound->span,
            fmt::format("the bounds of a range are integers, found '{}'", type_name(type)));
  assign_variable_type(instance_->declares.at(&stmt), {int_type(8, true)}, loop.name_span);
  enter_loop(loop.name_span);
  infer_block(loop.body);
  loop_depth_--;
}

void Inferrer::infer_for_map(const Stmt& stmt, const ForMap& loop) {
  if (!std::holds_alternative<MapAccess>(loop.map->node)) {
    error(loop.map->span, "'for' goes over a map or a range")
        .with_hint("write 'for ($kv : @map)' or 'for ($i : 0..10)'");
    return;
  }
  MapInfo& map = reach_map(*loop.map);
  if (map.is_scalar == true) {
    error(loop.map->span, fmt::format("'{}' has no keys, so no loop can go over it", map.name))
        .with_note(map.span, "first used here");
    return;
  }
  use_map(*loop.map, true);
  Type key = map.key, value = readable(map.value);
  if (is(value, Kind::Stats))  // in the order in which they are kept
    value = record_type({{"total", int_type(8, value->is_signed)}, {"count", int_type(8, false)}});
  if (!is(key, Kind::Unknown) && !is(value, Kind::Unknown)) {
    if (is_aggregation(value))
      error(loop.map->span, fmt::format("'{}' holds '{}' values, which cannot be read one by one",
                                        map.name, type_name(value)));
    else
      assign_variable_type(instance_->declares.at(&stmt), {tuple_type({key, value})},
                           loop.name_span);
  }
  enter_loop(loop.name_span);
  infer_block(loop.body);
  loop_depth_--;
}

void Inferrer::infer_let(const Stmt& stmt, const Let& let) {
  if (let.value) current_ = let.value->id;
  int variable = instance_->declares.at(&stmt);
  VariableInfo& declared = program_.variables[static_cast<size_t>(variable)];
  declared.is_reached = true;
  if (let.has_type) {
    declared.type = resolve_type(let.type);
    declared.has_declared_type = true;
    declared.only_literals = false;
  }
  if (!let.value) return;
  infer(*let.value);
  assign_variable(variable, *let.value, let.name_span);
}

// Does `x op= e` give a signed result whatever x is?
bool Inferrer::makes_signed(const Assign& assign) {
  if (assign.op == BinaryOp::Subtract) return true;
  if (assign.op == BinaryOp::ShiftLeft || assign.op == BinaryOp::ShiftRight) return false;
  Meeting right = meeting(*assign.value);
  return is(right.type, Kind::Int) && right.type->is_signed && !right.is_literal;
}

void Inferrer::infer_assign(const Stmt& stmt, const Assign& assign) {
  current_ = assign.value->id;
  if (!assign.target) {
    infer(*assign.value);
    return;
  }
  bool to_map = std::holds_alternative<MapAccess>(assign.target->node) && !assign.is_compound;
  const Expr* outer = std::exchange(aggregate_, to_map ? assign.value.get() : nullptr);
  infer(*assign.value);
  aggregate_ = outer;
  if (std::holds_alternative<Variable>(assign.target->node)) {
    int variable = info(*assign.target).variable;
    if (variable < 0) return;
    if (assign.is_compound) {
      Type have = program_.variables[static_cast<size_t>(variable)].type;
      bool is_fixed = program_.variables[static_cast<size_t>(variable)].has_declared_type;
      VariableInfo& changed = program_.variables[static_cast<size_t>(variable)];
      changed.is_assigned = changed.is_reached = true;
      if (check_compound(stmt, assign, have) && is_integer(have) && !is_fixed)
        assign_variable_type(variable, {int_type(8, have->is_signed || makes_signed(assign))},
                             stmt.span);
    } else {
      assign_variable(variable, *assign.value, assign.target->span);
    }
    info(*assign.target).type = program_.variables[static_cast<size_t>(variable)].type;
    return;
  }
  auto* access = std::get_if<MapAccess>(&assign.target->node);
  if (!access) {
    error(assign.target->span, "this cannot be assigned to")
        .with_hint("assign to a variable '$x' or a map '@x[key]'");
    return;
  }
  MapInfo& map = use_map(*assign.target, access->key != nullptr);
  const ExprInfo& value = info(*assign.value);
  bool is_direct = value.builtin && value.builtin->has(kAggregation);
  if (!is_direct && is_aggregation(value.type) && !is_integer(readable(value.type))) {
    error(assign.value->span,
          fmt::format("values of type '{}' cannot be copied from one map to another",
                      type_name(value.type)));
    return;
  }
  if (is(value.type, Kind::None)) {
    error(assign.value->span, "this expression has no value");
    return;
  }
  if (assign.is_compound) {
    if (!check_compound(stmt, assign, map.value)) return;
    bool is_signed = makes_signed(assign) || !is(map.value, Kind::Int) || map.value->is_signed;
    Type result = is(map.value, Kind::Pointer)
                      ? map.value
                      : int_type(8, is_signed && !(value.type->size == 8 &&
                                                   !value.type->is_signed && !value.is_literal));
    assign_map_type(map, {result}, assign.value->span);
  } else {
    assign_map_type(map, is_direct ? Meeting{value.type} : meeting(*assign.value),
                    assign.value->span);
  }
  info(*assign.target).type = map.value;
}

static std::string integer_text(int64_t value, const Type& type) {
  return type->is_signed ? fmt::format("{}", value)
                         : fmt::format("{}", static_cast<uint64_t>(value));
}

// Does the constant fit an integer type without being cut?
static bool fits_in(int64_t value, bool is_huge, const Type& type) {
  if (is(type, Kind::Bool)) return value == 0 || value == 1;
  if (type->size >= 8) return type->is_signed ? !is_huge : is_huge || value >= 0;
  int bits = static_cast<int>(type->size) * 8;
  int64_t low = type->is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = (int64_t{1} << (type->is_signed ? bits - 1 : bits)) - 1;
  return !is_huge && value >= low && value <= high;
}

// A declared type never widens: constants must fit it, all else must be as narrow.
bool Inferrer::can_hold(const Type& declared, const Expr& value) {
  const ExprInfo& from = info(value);
  if (is_integer(declared) && is(from.type, Kind::Int) && from.value)
    return fits_in(*from.value, from.is_literal && *from.value < 0, declared);
  std::optional<Type> both = unify({declared}, meeting(value));
  if (!both) return false;
  if (is_integer(declared) || is(declared, Kind::String)) return same_type(*both, declared);
  return true;
}

void Inferrer::assign_variable(int variable, const Expr& value, Span span) {
  const ExprInfo& from = info(value);
  if (is_aggregation(from.type)) {
    Diagnostic& report = error(
        value.span,
        fmt::format("values of type '{}' cannot be kept in a variable", type_name(from.type)));
    if (is_integer(readable(from.type))) report.with_hint("read it with a cast, as in (int64)@x");
    return;
  }
  if (is(from.type, Kind::None)) {
    error(value.span, "this expression has no value");
    return;
  }
  VariableInfo& declared = program_.variables[static_cast<size_t>(variable)];
  declared.is_assigned = declared.is_reached = true;
  if (declared.has_declared_type) {
    if (is(from.type, Kind::Unknown) || can_hold(declared.type, value)) return;
    Diagnostic& report =
        error(value.span, fmt::format("'${}' is declared as '{}' and cannot hold {}",
                                      written_name(declared.name), type_name(declared.type),
                                      from.value && is_integer(from.type)
                                          ? integer_text(*from.value, from.type)
                                          : fmt::format("'{}'", type_name(from.type))));
    bool can_be_cut = (is_integer(declared.type) && is_integer(from.type)) ||
                      (is(declared.type, Kind::String) && is(from.type, Kind::String));
    if (can_be_cut) report.with_hint("write a cast if the value may be cut");
    return;
  }
  if (follows_address(declared, value)) return;
  assign_variable_type(variable, meeting(value), span);
}

// `$p = &$x`: while the type of $x still widens, that of $p follows it.
bool Inferrer::follows_address(VariableInfo& pointer, const Expr& value) {
  const Unary* unary = std::get_if<Unary>(&value.node);
  bool is_address = unary && unary->op == UnaryOp::AddressOf;
  const Type& type = info(value).type;
  if (is_last_walk_ || !is_address || !is(pointer.type, Kind::Pointer)) return false;
  if (type->element->kind != pointer.type->element->kind) return false;
  changed_ |= !same_type(pointer.type, type);
  has_more_to_say_ = true;
  pointer.type = type;
  return true;
}

// A string that is added to in every round would grow without end: it gets all there is.
Type Inferrer::settled(const Type& type) {
  constexpr int kManyWalks = 8;
  if (walks_ < kManyWalks || !is(type, Kind::String)) return type;
  return string_type(std::max(type->size, static_cast<uint32_t>(program_.config.max_strlen)));
}

void Inferrer::assign_variable_type(int variable, const Meeting& value, Span span) {
  VariableInfo& declared = program_.variables[static_cast<size_t>(variable)];
  declared.is_assigned = declared.is_reached = true;
  if (is(value.type, Kind::Unknown)) return;
  std::optional<Type> both = unify({declared.type, declared.only_literals}, value);
  if (!both) {
    error(span, fmt::format("'${}' holds '{}' and cannot take '{}'", written_name(declared.name),
                            type_name(declared.type), type_name(value.type)))
        .with_note(declared.span, "first used here");
    return;
  }
  bool has_grown = !same_type(*both, declared.type);
  changed_ |= has_grown || (declared.only_literals && !value.is_literal);
  declared.type = has_grown ? settled(*both) : *both;
  declared.only_literals &= value.is_literal;
}

void Inferrer::assign_map_type(MapInfo& map, const Meeting& value, Span span) {
  if (is(value.type, Kind::Unknown)) return;
  std::optional<Type> both = unify({map.value, map.only_literals}, value);
  if (!both) {
    bool same_kind = map.value->kind == value.type->kind && is_aggregation(value.type);
    error(span, same_kind ? fmt::format("map '{}' holds a '{}' with other parameters", map.name,
                                        type_name(map.value))
                          : fmt::format("map '{}' holds '{}' and cannot take '{}'", map.name,
                                        type_name(map.value), type_name(value.type)))
        .with_note(map.span, "first used here");
    return;
  }
  bool has_grown = !same_type(*both, map.value);
  changed_ |= has_grown || (map.only_literals && !value.is_literal);
  map.value = has_grown ? settled(*both) : *both;
  map.only_literals &= value.is_literal;
}

MapInfo& Inferrer::reach_map(const Expr& access) {
  MapInfo& map = program_.maps[static_cast<size_t>(info(access).map)];
  map.is_reached |= !instance_->is_uncalled;
  return map;
}

MapInfo& Inferrer::use_map(const Expr& access, bool has_key) {
  MapInfo& map = reach_map(access);
  const ExprPtr& key = std::get<MapAccess>(access.node).key;
  if (!map.is_scalar) {
    map.is_scalar = !has_key;
    changed_ = true;
  } else if (*map.is_scalar == has_key) {
    error(access.span, has_key
                           ? fmt::format("'{}' has no keys, but is used with one here", map.name)
                           : fmt::format("'{}' has keys, but is used without one here", map.name))
        .with_note(map.span, "first used here");
    return map;
  }
  if (key) {
    infer(*key);
    use_key(map, *key);
  }
  return map;
}

void Inferrer::use_key(MapInfo& map, const Expr& key) {
  Type type = readable(info(key).type);
  if (is(type, Kind::Unknown)) return;
  if (is(type, Kind::None) || is_aggregation(type)) {
    error(key.span, fmt::format("'{}' cannot be the type of a key", type_name(type)));
    return;
  }
  std::optional<Type> both = unify({map.key, map.key_only_literals}, meeting(key));
  if (!both) {
    error(key.span, fmt::format("the keys of '{}' are '{}', found '{}'", map.name,
                                type_name(map.key), type_name(type)))
        .with_note(map.span, "first used here");
    return;
  }
  changed_ |= !same_type(*both, map.key) || (map.key_only_literals && !info(key).is_literal);
  map.key = *both;
  map.key_only_literals &= info(key).is_literal;
}

// Aggregations keep a value per CPU, everything else one for all.
void Inferrer::check_declaration(const MapInfo& map) {
  if (!map.decl || map.decl->type.empty()) return;
  bool is_per_cpu = map.decl->type.starts_with("percpu");
  if (is_per_cpu == is_aggregation(map.value)) return;
  bool is_lru = map.decl->type.ends_with("lruhash");
  std::string fitting =
      is_per_cpu ? (is_lru ? "lruhash" : "hash") : (is_lru ? "percpulruhash" : "percpuhash");
  diagnostics_
      .error(map.decl->span, fmt::format("a map of type {} cannot hold the '{}' values of '{}'",
                                         map.decl->type, type_name(map.value), map.name))
      .with_note(map.span, "first used here")
      .with_hint(
          fmt::format("declare it as: let {} = {}({});", map.name, fitting, map.decl->entries));
}

void Inferrer::finish_maps() {
  for (MapInfo& map : program_.maps) {
    if (diagnostics_.has_errors()) return;
    if (!map.is_reached) continue;
    if (!is(map.value, Kind::Unknown) && (map.is_scalar == true || !is(map.key, Kind::Unknown))) {
      check_declaration(map);
      continue;
    }
    diagnostics_.error(map.span, fmt::format("nothing is ever stored in map '{}'", map.name));
  }
}

void Inferrer::finish_variables() {
  for (VariableInfo& variable : program_.variables) {
    if (diagnostics_.has_errors() || variable.is_merged) continue;
    if (!variable.is_reached) {  // all its uses stand in branches that are ruled out
      if (is(variable.type, Kind::Unknown)) variable.type = int_type(8, true);
      continue;
    }
    if (!is(variable.type, Kind::Unknown)) {
      if (!variable.is_assigned)
        diagnostics_.warning(variable.span,
                             fmt::format("nothing is ever stored in '${}', so it stays empty",
                                         written_name(variable.name)));
      continue;
    }
    diagnostics_.error(variable.span,
                       fmt::format("nothing is ever stored in '${}'", written_name(variable.name)));
  }
}

}  // namespace flowtap
