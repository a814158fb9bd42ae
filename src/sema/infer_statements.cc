// Statements; see infer_statements.h.

#include "sema/infer_statements.h"

#include <fmt/format.h>

#include <utility>

#include "base/overloaded.h"

namespace flowtap {

void StatementTypes::infer_block(const Block& block) {
  bool left = false;
  for (const StmtPtr& stmt : block.stmts) {
    if (left) {
      warning(stmt->span, "this statement is never reached");
      left = false;
    }
    infer_stmt(*stmt);
    left |= std::holds_alternative<Return>(stmt->node) ||
            std::holds_alternative<Break>(stmt->node) ||
            std::holds_alternative<Continue>(stmt->node) || uses_.functions.is_exit(*stmt);
  }
  if (block.result) uses_.expressions.infer(*block.result);
}

void StatementTypes::infer_stmt(const Stmt& stmt) {
  std::visit(
      Overloaded{
          [&](const ExprStmt& n) {
            uses_.expressions.infer(*n.expr);
            walk_.current = n.expr->id;
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
          [&](const While& n) { uses_.loops.infer_while(stmt, n); },
          [&](const Unroll& n) { uses_.loops.infer_unroll(stmt, n); },
          [&](const ForRange& n) { uses_.loops.infer_for_range(stmt, n); },
          [&](const ForMap& n) { uses_.loops.infer_for_map(stmt, n); },
          [&](const Return& n) { uses_.functions.infer_return(stmt, n); },
          [&](const Emit& n) { uses_.rows.infer_emit(stmt, n); },
          [&](const Block& n) { infer_block(n); },
          [&](const Break&) { uses_.loops.need_loop(stmt, "break"); },
          [&](const Continue&) { uses_.loops.need_loop(stmt, "continue"); },
      },
      stmt.node);
}

// A branch that the machine's answer rules out, or that 'comptime' does, is not looked at.
void StatementTypes::infer_branches(const Expr& condition, const Block& then,
                                    const Block& otherwise, bool is_comptime) {
  uses_.expressions.infer_condition(condition);
  std::optional<int64_t> value = info(condition).value;
  is_comptime |= info(condition).is_question;
  if (is_comptime && !value && !is(info(condition).type, Kind::Unknown))
    error(condition.span, "this condition is not known at compile time");
  if (!is_comptime || !value || *value) infer_block(then);
  if (!is_comptime || !value || !*value) infer_block(otherwise);
}

void StatementTypes::infer_let(const Stmt& stmt, const Let& let) {
  if (let.value) walk_.current = let.value->id;
  VariableId variable = place_.instance->declares.at(&stmt);
  VariableInfo& declared = program_.variables[variable];
  declared.is_reached = true;
  if (let.has_type) {
    declared.type = uses_.types.resolve_type(let.type);
    declared.has_declared_type = true;
    declared.only_literals = false;
  }
  if (!let.value) return;
  uses_.expressions.infer(*let.value);
  uses_.stores.assign_variable(variable, *let.value, let.name_span);
}

// Does `x op= e` give a signed result whatever x is?
bool StatementTypes::makes_signed(const Assign& assign) {
  if (assign.op == BinaryOp::Subtract) return true;
  if (assign.op == BinaryOp::ShiftLeft || assign.op == BinaryOp::ShiftRight) return false;
  Meeting right = meeting(*assign.value);
  return is(right.type, Kind::Int) && right.type->is_signed && !right.is_literal;
}

void StatementTypes::infer_assign(const Stmt& stmt, const Assign& assign) {
  walk_.current = assign.value->id;
  if (!assign.target) {
    uses_.expressions.infer(*assign.value);
    return;
  }
  bool to_map = std::holds_alternative<MapAccess>(assign.target->node) && !assign.is_compound;
  const Expr* outer = std::exchange(place_.aggregate, to_map ? assign.value.get() : nullptr);
  uses_.expressions.infer(*assign.value);
  place_.aggregate = outer;
  if (std::holds_alternative<Variable>(assign.target->node)) {
    VariableId variable = info(*assign.target).variable;
    if (!variable.is_set()) return;
    if (assign.is_compound) {
      Type have = program_.variables[variable].type;
      bool is_fixed = program_.variables[variable].has_declared_type;
      VariableInfo& changed = program_.variables[variable];
      changed.is_assigned = changed.is_reached = true;
      if (uses_.operators.check_compound(stmt, assign, have) && is_integer(have) && !is_fixed)
        uses_.stores.assign_variable_type(
            variable, {int_type(8, have->is_signed || makes_signed(assign))}, stmt.span);
    } else {
      uses_.stores.assign_variable(variable, *assign.value, assign.target->span);
    }
    info(*assign.target).type = program_.variables[variable].type;
    return;
  }
  auto* access = std::get_if<MapAccess>(&assign.target->node);
  if (!access) {
    error(assign.target->span, "this cannot be assigned to")
        .with_hint("assign to a variable '$x' or a map '@x[key]'");
    return;
  }
  MapInfo& map = uses_.stores.use_map(*assign.target, access->key != nullptr);
  const ExprInfo& value = info(*assign.value);
  bool is_direct = value.builtin && value.builtin->family == BuiltinFamily::Aggregation;
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
    if (!uses_.operators.check_compound(stmt, assign, map.value)) return;
    bool is_signed = makes_signed(assign) || !is(map.value, Kind::Int) || map.value->is_signed;
    Type result = is(map.value, Kind::Pointer)
                      ? map.value
                      : int_type(8, is_signed && !(value.type->size == 8 &&
                                                   !value.type->is_signed && !value.is_literal));
    uses_.stores.assign_map_type(map, {result}, assign.value->span);
  } else {
    uses_.stores.assign_map(map, *assign.value, is_direct);
  }
  info(*assign.target).type = map.value;
}

}  // namespace flowtap
