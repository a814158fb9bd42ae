// Statements and conditions.

#include "lower/statements.h"

#include "base/overloaded.h"

namespace flowtap {

void Statements::lower_block(const Block& block) {
  uses_.actions.join_reports(block);
  for (const StmtPtr& stmt : block.stmts) lower_stmt(*stmt);
}

void Statements::lower_stmt(const Stmt& stmt) {
  b().set_span(stmt.span);
  Memory::Temporaries before = uses_.memory.temporaries();
  std::visit(
      Overloaded{
          [&](const ExprStmt& n) { uses_.expressions.lower(*n.expr); },
          [&](const Assign& n) { lower_assign(n); },
          [&](const Let& n) { lower_let(stmt, n); },
          [&](const If& n) { lower_if(*n.condition, n.then, n.otherwise, n.is_comptime); },
          [&](const While& n) { uses_.loops.lower_while(stmt, n); },
          [&](const Unroll& n) {
            for (int64_t i = 0; i < *info(*n.count).value; i++) lower_block(n.body);
          },
          [&](const ForRange& n) { uses_.loops.lower_for_range(stmt, n); },
          [&](const ForMap& n) { uses_.loops.lower_for_map(stmt, n); },
          [&](const Break&) { b().ret(imm(1)); },
          [&](const Continue&) { b().ret(imm(0)); },
          [&](const Return& n) {
            if (uses_.functions.are_open())
              uses_.functions.lower_fn_return(n);
            else
              uses_.frame.lower_return(n.value ? uses_.expressions.lower_scalar(*n.value) : imm(0));
          },
          [&](const Emit& n) { uses_.actions.lower_emit(stmt, n); },
          [&](const Block& n) { lower_block(n); },
      },
      stmt.node);
  uses_.memory.free_since(before);
}

void Statements::lower_let(const Stmt& stmt, const Let& let) {
  VariableId variable = instance_.declares.at(&stmt);
  if (let.value && let.is_parameter)
    uses_.functions.pass(variable, *let.value);
  else if (let.value)
    uses_.variables.store_variable(variable, *let.value);
  else
    uses_.variables.zero_variable(variable);
}

void Statements::lower_assign(const Assign& assign) {
  if (!assign.target) {
    uses_.expressions.lower(*assign.value);
    return;
  }
  if (assign.is_compound) return lower_compound(assign);
  if (std::holds_alternative<Variable>(assign.target->node))
    return uses_.variables.store_variable(info(*assign.target).variable, *assign.value);
  const Builtin* builtin = info(*assign.value).builtin;
  if (builtin && builtin->family == BuiltinFamily::Aggregation)
    uses_.maps.update_aggregation(*assign.target, *assign.value);
  else
    uses_.maps.store_map(*assign.target, *assign.value);
}

// `$x op= e` calculates as `$x op e` does: with 64 bits, and signed if one of them is.
Type Statements::compound_type(const Assign& assign, const Type& target) const {
  if (is(target, Kind::Pointer)) return int_type(8, false);
  const ExprInfo& right = info(*assign.value);
  bool is_shift = assign.op == BinaryOp::ShiftLeft || assign.op == BinaryOp::ShiftRight;
  bool counts = !is_shift && !right.is_literal;
  return int_type(8, is_signed(target) || (counts && is_signed(type_of(*assign.value))));
}

// $x op= e and @x[k] op= e. A pointer moves by whole elements.
void Statements::lower_compound(const Assign& assign) {
  bool is_variable = std::holds_alternative<Variable>(assign.target->node);
  const ExprInfo& target = info(*assign.target);
  const Type& type = is_variable ? image_.checked().variables[target.variable].type
                                 : image_.checked().maps[target.map].value;
  Operand right = uses_.expressions.lower_scalar(*assign.value);
  if (is(type, Kind::Pointer))
    right = reg(b().alu(ir::Alu::Mul, right, imm(uses_.arithmetic.step_of(type))));
  if (is_variable) {
    Value old = uses_.variables.load_variable(target.variable);
    Value result = uses_.arithmetic.lower_arithmetic(assign.op, compound_type(assign, type),
                                                     old.operand, right);
    return uses_.variables.store_variable(target.variable,
                                          scalar(type, uses_.memory.narrow(result.operand, type)));
  }
  uses_.maps.change_map(*assign.target, [&](const Lane& place) {
    Address value = place.address;
    bool is_sum = assign.op == BinaryOp::Add || assign.op == BinaryOp::Subtract;
    if (is_sum && type->size == 8) {
      Operand delta = assign.op == BinaryOp::Add ? right : reg(b().negate(right));
      return b().atomic_add(value, 8, delta);
    }
    Location old{.type = type, .space = AddressSpace::Bpf, .address = value};
    Value result = uses_.arithmetic.lower_arithmetic(assign.op, compound_type(assign, type),
                                                     uses_.memory.read(old).operand, right);
    b().store(value, type->size, result.operand);
  });
}

void Statements::lower_if(const Expr& condition, const Block& then, const Block& otherwise,
                          bool is_comptime) {
  if (is_comptime || info(condition).value)
    return lower_block(*info(condition).value ? then : otherwise);
  bool has_else = !otherwise.stmts.empty();
  int32_t yes = b().new_block(), no = b().new_block();
  int32_t done = has_else ? b().new_block() : no;
  uses_.expressions.lower_condition(condition, yes, no);
  b().start(yes);
  lower_block(then);
  b().jump(done);
  if (has_else) {
    b().start(no);
    lower_block(otherwise);
    b().jump(done);
  }
  b().start(done);
}

}  // namespace flowtap
