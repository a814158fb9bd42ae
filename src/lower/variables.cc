// Variables: scalars live in a register, or in the program's frame when a loop body shares them;
// larger values live in a slot.

#include "lang/walk.h"
#include "lower/lowering.h"

namespace flowtap {

ir::Address Lowering::frame_cell(int cell) {
  return in_callback_ ? ir::at(frame_base_, cell * 8) : ir::in_slot(frame_slot_, cell * 8);
}

ir::Address Lowering::range_start(int variable) {
  const Home& home = homes_.at(variable);
  return home.start_slot >= 0 ? ir::in_slot(home.start_slot) : frame_cell(home.start_cell);
}

ir::Address Lowering::variable_address(int variable) {
  const VariableInfo& declared = image_.checked().variables[static_cast<size_t>(variable)];
  Home& home = homes_[variable];
  if (home.cell >= 0) return frame_cell(home.cell);
  if (home.slot < 0) {
    ir::Place place = declared.is_captured ? ir::Place::Scratch : ir::Place::Auto;
    home.slot = b().new_slot((declared.type->size + 7) / 8 * 8, place);
  }
  return ir::in_slot(home.slot);
}

// The body of an unrolled loop is lowered anew for each time, as a function of its own: registers
// and slots of the last one mean nothing there.
void Lowering::leave_homes(int function) {
  for (auto& [variable, home] : homes_) {
    const VariableInfo& declared = image_.checked().variables[static_cast<size_t>(variable)];
    if (declared.function != function || declared.is_captured) continue;
    home.reg = ir::kNoReg;
    home.slot = -1;
  }
}

// The verifier runs a loop body again until nothing it knows changes. A counter it can follow
// would change in every round: writing its last byte apart makes it forget the number.
void Lowering::store_cell(int cell, Operand value, bool is_number) {
  Address to = frame_cell(cell);
  b().store(to, 8, value);
  if (in_callback_ && is_number) b().store(to + 7, 1, reg(b().alu(ir::Alu::Shr, value, imm(56))));
}

// A difference of two pointers is a number that the verifier knows nothing of, and ours is zero.
ir::Reg Lowering::plus_unknown_zero(Operand value, Operand pointer) {
  return b().alu(ir::Alu::Add, value, reg(b().alu(ir::Alu::Sub, pointer, pointer)));
}

// Before Linux 6.7 the verifier walks through a loop body once, and takes what it knows of the
// stack then for true in every round: it would remove the way out of `while ($i < 3)` as dead code.
ir::Reg Lowering::load_cell(Address cell) {
  Reg number = b().load(cell, 8);
  return plus_unknown_zero(reg(number), frame_pointer());
}

// The verifier follows every way through a program for as long as it knows something that could
// matter, and looks at a loop anew for all that it may know when it comes there. A dozen choices
// are too much then: in programs that have many, or loops, it had better know nothing of numbers.
bool Lowering::has_many_choices() const {
  constexpr int kMany = 64;  // expressions
  int found = 0;
  auto count = [&](const Expr&) { found++; };
  for_each_expr(instance_.body, count);
  if (instance_.predicate) for_each_expr(*instance_.predicate, count);
  return found > kMany || instance_.has_unroll;
}

ir::Operand Lowering::forgotten(const Type& type, Operand value) {
  return forgets_ && is_integer(type) ? reg(plus_unknown_zero(value, frame_pointer())) : value;
}

void Lowering::store_variable(int variable, const Value& value) {
  const Type& type = image_.checked().variables[static_cast<size_t>(variable)].type;
  Home& home = homes_[variable];
  if (!is_scalar(type)) return store(value, variable_address(variable), type);
  if (home.cell >= 0) return store_cell(home.cell, value.operand, is_integer(type));
  if (home.slot >= 0 || home.is_in_memory)
    return b().store(variable_address(variable), 8, value.operand);
  if (home.reg == ir::kNoReg) home.reg = b().new_reg();
  b().assign(home.reg, forgotten(type, value.operand));
}

void Lowering::store_variable(int variable, const Expr& value) {
  const Type& type = image_.checked().variables[static_cast<size_t>(variable)].type;
  if (is_scalar(type)) {
    Operand operand = lower_scalar(value);
    return store_variable(variable, scalar(type, narrow(operand, type)));
  }
  if (!reads(value, variable)) return lower_into(value, variable_address(variable), type);
  // `$t = ($t.1, $t.0)`: the old value is needed until the new one is complete.
  Address room = temp(type->size);
  lower_into(value, room, type);
  copy(variable_address(variable), room, type->size);
}

bool Lowering::reads(const Expr& value, int variable) const {
  bool found = false;
  for_each_expr(value, [&](const Expr& e) { found |= info(e).variable == variable; });
  return found;
}

void Lowering::zero_variable(int variable) {
  const Type& type = image_.checked().variables[static_cast<size_t>(variable)].type;
  if (is_scalar(type))
    store_variable(variable, scalar(type, imm(0)));
  else
    zero(variable_address(variable), type->size);
}

Value Lowering::load_variable(int variable) {
  const Type& type = image_.checked().variables[static_cast<size_t>(variable)].type;
  Home& home = homes_[variable];
  if (!is_scalar(type)) return memory(type, variable_address(variable));
  if (home.cell >= 0 && is_integer(type))
    return scalar(type, reg(load_cell(frame_cell(home.cell))));
  if (home.cell >= 0) return scalar(type, reg(b().load(frame_cell(home.cell), 8)));
  if (home.slot >= 0 || home.is_in_memory)
    return scalar(type, reg(b().load(variable_address(variable), 8)));
  // A copy: the variable may change before this value is used, as in `$x++ + $x`.
  return scalar(type, reg(b().move(reg(home.reg))));
}

}  // namespace flowtap
