// Functions of the script; see infer_function.h. A call stands in the tree with a copy of the
// function's body: its parameters and its result are variables of declared types, and what is
// stored in them is converted to those.

#include "sema/infer_function.h"

#include <fmt/format.h>

#include <utility>

#include "lang/expand.h"

namespace flowtap {

bool FunctionTypes::is_exit(const Stmt& stmt) {
  const ExprStmt* call = std::get_if<ExprStmt>(&stmt.node);
  const Builtin* builtin = call ? info(*call->expr).builtin : nullptr;
  return builtin && builtin->id == Fn::Exit;
}

void FunctionTypes::infer_fn_call(const Expr& expr, const FnCall& node) {
  for (const StmtPtr& param : node.params) infer_parameter(node, *param);
  if (node.result) uses_.blocks.infer_let(*node.result, std::get<Let>(node.result->node));
  const FnCall* outer = std::exchange(place_.function, &node);
  int outer_loops = std::exchange(place_.loops_around, place_.loop_depth);
  uses_.blocks.infer_block(node.body);
  place_.function = outer;
  place_.loops_around = outer_loops;
  if (!node.result) {
    info(expr).type = none_type();
    return;
  }
  VariableId variable = place_.instance->declares.at(node.result.get());
  VariableInfo& result = program_.variables[variable];
  result.is_assigned = true;
  info(expr).type = result.type;
  if (!always_leaves(node.body))
    error(node.declared,
          fmt::format("the end of function '{}' can be reached without 'return'", node.name))
        .with_hint("end it with 'return value;'");
}

void FunctionTypes::infer_parameter(const FnCall& node, const Stmt& stmt) {
  const Let& let = std::get<Let>(stmt.node);
  VariableId variable = place_.instance->declares.at(&stmt);
  VariableInfo& declared = program_.variables[variable];
  declared.is_assigned = declared.is_reached = declared.has_declared_type = true;
  declared.only_literals = false;
  declared.type = uses_.types.resolve_type(let.type);
  if (is(declared.type, Kind::None))
    error(let.type.span, "a parameter cannot be 'void'").with_hint("'void *' is a pointer");
  if (!let.value) return;
  uses_.expressions.infer(*let.value);
  pass(node, variable, *let.value,
       fmt::format("parameter '${}' of '{}' is '{}' and cannot take", written_name(let.name),
                   node.name, type_name(declared.type)));
}

void FunctionTypes::infer_return(const Stmt& stmt, const Return& node) {
  if (node.value) uses_.expressions.infer(*node.value);
  if (!place_.function) {
    if (node.value && !is_integer(readable(info(*node.value).type)) &&
        !is(info(*node.value).type, Kind::Unknown))
      error(node.value->span, fmt::format("a probe returns an integer, found '{}'",
                                          type_name(info(*node.value).type)));
    return;
  }
  if (!place_.function->result) {
    if (node.value)
      error(node.value->span, fmt::format("function '{}' returns nothing", place_.function->name))
          .with_note(place_.function->declared, "it is declared here");
    return;
  }
  VariableId variable = place_.instance->declares.at(place_.function->result.get());
  const Type& type = program_.variables[variable].type;
  std::string message =
      fmt::format("function '{}' returns '{}', found", place_.function->name, type_name(type));
  if (node.value)
    pass(*place_.function, variable, *node.value, message);
  else
    error(stmt.span, message + " 'return' without a value")
        .with_note(place_.function->declared, "it is declared here");
}

// Stores a value in a parameter or the result; `to` begins the message if it cannot be.
void FunctionTypes::pass(const FnCall& node, VariableId variable, const Expr& value,
                         const std::string& to) {
  VariableInfo& declared = program_.variables[variable];
  Type from = readable(info(value).type);
  if (is(from, Kind::Unknown) || is(declared.type, Kind::Unknown)) return;
  // Where a pointer leads is known by the caller.
  if (is(declared.type, Kind::Pointer) && is(from, Kind::Pointer))
    declared.type = pointer_type(declared.type->element, from->space);
  if (can_pass(declared.type, value)) return;
  std::optional<int64_t> number = is_integer(from) ? info(value).value : std::nullopt;
  error(value.span, fmt::format("{} {}", to,
                                number                 ? fmt::format("{}", *number)
                                : is(from, Kind::None) ? "an expression without a value"
                                                       : fmt::format("'{}'", type_name(from))))
      .with_note(node.declared, "it is declared here");
}

// Integers become as wide and strings as long as the declaration says; constants must fit it.
bool FunctionTypes::can_pass(const Type& declared, const Expr& value) {
  Type from = readable(info(value).type);
  if (is(declared, Kind::Int) && is_integer(from) && !info(value).value) return true;
  if (is(declared, Kind::String) && is(from, Kind::String)) return true;
  return uses_.stores.can_hold(declared, value);
}

// Does every way through the block end in 'return' or exit()?
bool FunctionTypes::always_leaves(const Block& block) {
  for (const StmtPtr& stmt : block.stmts) {
    if (std::holds_alternative<Return>(stmt->node) || is_exit(*stmt)) return true;
    if (auto* n = std::get_if<Block>(&stmt->node); n && always_leaves(*n)) return true;
    auto* n = std::get_if<If>(&stmt->node);
    if (!n) continue;
    bool is_comptime = n->is_comptime || info(*n->condition).is_question;
    std::optional<int64_t> known = is_comptime ? info(*n->condition).value : std::nullopt;
    bool then = known == 0 || always_leaves(n->then);
    bool otherwise = (known && *known) || always_leaves(n->otherwise);
    if (then && otherwise) return true;
  }
  return false;
}

}  // namespace flowtap
