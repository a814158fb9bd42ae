// Variables: scalars live in a register, or in the program's frame when a loop body shares them;
// larger values live in a slot.

#include "lower/variables.h"

#include <set>

#include "lang/walk.h"

namespace flowtap {

static constexpr int kMostInRegisters = 32;

void Variables::choose_homes() {
  for (size_t v = instance_.first_variable; v < instance_.end_variable; v++)
    choose_home(VariableId(v));
  // The statements are in an order of chance: that of where they lie in memory.
  std::set<VariableId> starts;
  for (const auto& [stmt, variable] : instance_.declares)
    if (std::holds_alternative<ForRange>(stmt->node)) starts.insert(variable);
  for (VariableId variable : starts) choose_start(variable);
}

void Variables::choose_start(VariableId number) {
  Home& home = homes_[number];
  if (frame_.has_room())
    home.start_cell = frame_.add_cell();
  else
    home.start_slot = b().new_slot(8, ir::Place::Scratch);
}

void Variables::choose_home(VariableId number) {
  const VariableInfo& variable = image_.checked().variables[number];
  if (!is_scalar(variable.type) || variable.is_merged) return;
  bool can_move = variable.type->space != AddressSpace::Context;
  Home& home = homes_[number];
  if (variable.is_captured && (frame_.has_room() || !can_move))
    home.cell = frame_.add_cell();
  else if (variable.is_captured)
    home.slot = b().new_slot(8, ir::Place::Scratch);
  else if (++in_registers_ > kMostInRegisters && can_move)
    home.is_in_memory = true;
}

void Variables::zero_variables(int function) {
  for (size_t v = instance_.first_variable; v < instance_.end_variable; v++) {
    const VariableInfo& variable = image_.checked().variables[VariableId(v)];
    if (!variable.needs_zero || variable.function != function || is(variable.type, Kind::Unknown))
      continue;
    zero_variable(VariableId(v));
  }
}

ir::Address Variables::range_start(VariableId variable) {
  const Home& home = homes_.at(variable);
  return home.start_slot >= 0 ? ir::in_slot(home.start_slot) : frame_.frame_cell(home.start_cell);
}

ir::Address Variables::variable_address(VariableId variable) {
  const VariableInfo& declared = image_.checked().variables[variable];
  Home& home = homes_[variable];
  if (home.cell >= 0) return frame_.frame_cell(home.cell);
  if (home.slot < 0) {
    ir::Place place = declared.is_captured ? ir::Place::Scratch : ir::Place::Auto;
    home.slot = b().new_slot((declared.type->size + 7) / 8 * 8, place);
  }
  return ir::in_slot(home.slot);
}

// The body of an unrolled loop is lowered anew for each time, as a function of its own: registers
// and slots of the last one mean nothing there.
void Variables::leave_homes(int function) {
  for (auto& [variable, home] : homes_) {
    const VariableInfo& declared = image_.checked().variables[variable];
    if (declared.function != function || declared.is_captured) continue;
    home.reg = ir::kNoReg;
    home.slot = -1;
  }
}

void Variables::store_variable(VariableId variable, const Value& value) {
  const Type& type = image_.checked().variables[variable].type;
  Home& home = homes_[variable];
  if (!is_scalar(type)) return memory_.store(value, variable_address(variable), type);
  if (home.cell >= 0) return frame_.store_cell(home.cell, value.operand, is_integer(type));
  if (home.slot >= 0 || home.is_in_memory)
    return b().store(variable_address(variable), 8, value.operand);
  if (home.reg == ir::kNoReg) home.reg = b().new_reg();
  b().assign(home.reg, frame_.forgotten(type, value.operand));
}

void Variables::store_variable(VariableId variable, const Expr& value) {
  const Type& type = image_.checked().variables[variable].type;
  if (is_scalar(type)) {
    Operand operand = expressions_.lower_scalar(value);
    return store_variable(variable, scalar(type, memory_.narrow(operand, type)));
  }
  if (!reads(value, variable))
    return expressions_.lower_into(value, variable_address(variable), type);
  // `$t = ($t.1, $t.0)`: the old value is needed until the new one is complete.
  Address room = memory_.temp(type->size);
  expressions_.lower_into(value, room, type);
  memory_.copy(variable_address(variable), room, type->size);
}

bool Variables::reads(const Expr& value, VariableId variable) const {
  bool found = false;
  for_each_expr(value, [&](const Expr& e) { found |= info(e).variable == variable; });
  return found;
}

void Variables::zero_variable(VariableId variable) {
  const Type& type = image_.checked().variables[variable].type;
  if (is_scalar(type))
    store_variable(variable, scalar(type, imm(0)));
  else
    memory_.zero(variable_address(variable), type->size);
}

Value Variables::load_variable(VariableId variable) {
  const Type& type = image_.checked().variables[variable].type;
  Home& home = homes_[variable];
  if (!is_scalar(type)) return memory(type, variable_address(variable));
  if (home.cell >= 0 && is_integer(type))
    return scalar(type, reg(frame_.load_cell(frame_.frame_cell(home.cell))));
  if (home.cell >= 0) return scalar(type, reg(b().load(frame_.frame_cell(home.cell), 8)));
  if (home.slot >= 0 || home.is_in_memory)
    return scalar(type, reg(b().load(variable_address(variable), 8)));
  // A copy: the variable may change before this value is used, as in `$x++ + $x`.
  return scalar(type, reg(b().move(reg(home.reg))));
}

}  // namespace flowtap
