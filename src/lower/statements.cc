// Statements and conditions.

#include "base/overloaded.h"
#include "lower/lowering.h"

namespace flowtap {

void Lowering::lower_stmt(const Stmt& stmt) {
  b().set_span(stmt.span);
  std::vector<Temp> before = temps_;
  std::visit(Overloaded{
                 [&](const ExprStmt& n) { lower(*n.expr); },
                 [&](const Assign& n) { lower_assign(n); },
                 [&](const Let& n) { lower_let(stmt, n); },
                 [&](const If& n) { lower_if(*n.condition, n.then, n.otherwise, n.is_comptime); },
                 [&](const While& n) { lower_while(stmt, n); },
                 [&](const Unroll& n) {
                   for (int64_t i = 0; i < *info(*n.count).value; i++) lower_block(n.body);
                 },
                 [&](const ForRange& n) { lower_for_range(stmt, n); },
                 [&](const ForMap& n) { lower_for_map(stmt, n); },
                 [&](const Break&) { b().ret(imm(1)); },
                 [&](const Continue&) { b().ret(imm(0)); },
                 [&](const Return& n) {
                   if (open_.call)
                     lower_fn_return(n);
                   else
                     lower_return(n.value ? lower_scalar(*n.value) : imm(0));
                 },
                 [&](const Emit& n) { lower_emit(stmt, n); },
                 [&](const Block& n) { lower_block(n); },
             },
             stmt.node);
  // Temporaries of this statement are free again; those it made stay in the list.
  for (size_t i = 0; i < temps_.size(); i++)
    temps_[i].is_used = i < before.size() && before[i].is_used;
}

// Only tests have a use for the value. In a loop body: note that the whole probe ends, with the
// value above the lowest bit, then stop the loop.
void Lowering::lower_return(Operand value) {
  if (instance_.kind != ProbeKind::Test) value = imm(0);
  if (!in_callback_) return b().ret(value);
  Reg shifted = b().alu(ir::Alu::Shl, value, imm(1));
  b().store(frame_cell(1), 8, reg(b().alu(ir::Alu::Or, reg(shifted), imm(1))));
  b().ret(imm(1));
}

void Lowering::lower_let(const Stmt& stmt, const Let& let) {
  int variable = instance_.declares.at(&stmt);
  if (let.value && let.is_parameter)
    pass(variable, *let.value);
  else if (let.value)
    store_variable(variable, *let.value);
  else
    zero_variable(variable);
}

void Lowering::lower_assign(const Assign& assign) {
  if (!assign.target) {
    lower(*assign.value);
    return;
  }
  if (assign.is_compound) return lower_compound(assign);
  if (std::holds_alternative<Variable>(assign.target->node))
    return store_variable(info(*assign.target).variable, *assign.value);
  const Builtin* builtin = info(*assign.value).builtin;
  if (builtin && builtin->has(kAggregation))
    update_aggregation(*assign.target, *assign.value);
  else
    store_map(*assign.target, *assign.value);
}

// `$x op= e` calculates as `$x op e` does: with 64 bits, and signed if one of them is.
Type Lowering::compound_type(const Assign& assign, const Type& target) const {
  if (is(target, Kind::Pointer)) return int_type(8, false);
  const ExprInfo& right = info(*assign.value);
  bool is_shift = assign.op == BinaryOp::ShiftLeft || assign.op == BinaryOp::ShiftRight;
  bool counts = !is_shift && !right.is_literal;
  return int_type(8, is_signed(target) || (counts && is_signed(type_of(*assign.value))));
}

// $x op= e and @x[k] op= e. A pointer moves by whole elements.
void Lowering::lower_compound(const Assign& assign) {
  bool is_variable = std::holds_alternative<Variable>(assign.target->node);
  const ExprInfo& target = info(*assign.target);
  const Type& type = is_variable
                         ? image_.checked().variables[static_cast<size_t>(target.variable)].type
                         : image_.checked().maps[static_cast<size_t>(target.map)].value;
  Operand right = lower_scalar(*assign.value);
  if (is(type, Kind::Pointer)) right = reg(b().alu(ir::Alu::Mul, right, imm(step_of(type))));
  if (is_variable) {
    Value old = load_variable(target.variable);
    Value result = lower_arithmetic(assign.op, compound_type(assign, type), old.operand, right);
    return store_variable(target.variable, scalar(type, narrow(result.operand, type)));
  }
  change_map(*assign.target, [&](Address value) {
    bool is_sum = assign.op == BinaryOp::Add || assign.op == BinaryOp::Subtract;
    if (is_sum && type->size == 8) {
      Operand delta = assign.op == BinaryOp::Add ? right : reg(b().negate(right));
      return b().atomic_add(value, 8, delta);
    }
    Location old{.type = type, .space = AddressSpace::Bpf, .address = value};
    Value result =
        lower_arithmetic(assign.op, compound_type(assign, type), read(old).operand, right);
    b().store(value, type->size, result.operand);
  });
}

void Lowering::lower_if(const Expr& condition, const Block& then, const Block& otherwise,
                        bool is_comptime) {
  if (is_comptime || info(condition).value)
    return lower_block(*info(condition).value ? then : otherwise);
  bool has_else = !otherwise.stmts.empty();
  int32_t yes = b().new_block(), no = b().new_block();
  int32_t done = has_else ? b().new_block() : no;
  lower_condition(condition, yes, no);
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

// Branches on a condition; '&&', '||' and '!' become control flow.
void Lowering::lower_condition(const Expr& condition, int32_t then, int32_t otherwise) {
  if (auto* n = std::get_if<Binary>(&condition.node); n && !info(condition).value) {
    bool is_and = n->op == BinaryOp::And, is_or = n->op == BinaryOp::Or;
    if (is_and || is_or) {
      int32_t second = b().new_block();
      lower_condition(*n->left, is_and ? second : then, is_and ? otherwise : second);
      b().start(second);
      return lower_condition(*n->right, then, otherwise);
    }
    bool compares = n->op >= BinaryOp::Equal && n->op <= BinaryOp::GreaterEqual;
    if (compares && is_scalar(type_of(*n->left)) && is_scalar(type_of(*n->right))) {
      Operand left = lower_forgotten(*n->left);
      Operand right = lower_forgotten(*n->right);
      return b().branch(comparison(*n), left, right, then, otherwise);
    }
  }
  if (auto* n = std::get_if<Unary>(&condition.node);
      n && n->op == UnaryOp::Not && !info(condition).value)
    return lower_condition(*n->operand, otherwise, then);
  b().branch(ir::Compare::Ne, lower_forgotten(condition), imm(0), then, otherwise);
}

}  // namespace flowtap
