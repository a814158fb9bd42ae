// Functions of the script. They are put in where they are called: parameters and result are
// variables, and 'return' is a jump to the end of the body, or out of a loop and then there.

#include "lower/functions.h"

#include <utility>

namespace flowtap {

Value ScriptFunctions::lower_fn_call(const FnCall& node) {
  for (const StmtPtr& param : node.params) uses_.blocks.lower_stmt(*param);
  if (node.result) uses_.blocks.lower_stmt(*node.result);
  Open outer =
      std::exchange(open_, Open{.call = &node, .end = b().new_block(), .in = b().function()});
  uses_.blocks.lower_block(node.body);
  b().jump(open_.end);
  b().start(open_.end);
  open_ = outer;
  if (!node.result) return {none_type(), {}, {}};
  return uses_.variables.load_variable(instance_.declares.at(node.result.get()));
}

void ScriptFunctions::lower_fn_return(const Return& node) {
  if (open_.call->result) pass(instance_.declares.at(open_.call->result.get()), *node.value);
  if (open_.in == b().function()) return b().jump(open_.end);
  b().store(uses_.frame.return_flag(), 8, imm(ProgramFrame::kFunctionEnds));
  b().ret(imm(1));
}

// A string may be longer than where it goes, and is cut there, as by a cast.
void ScriptFunctions::pass(VariableId variable, const Expr& value) {
  const Type& type = image_.checked().variables[variable].type;
  if (is(type, Kind::String) && type_of(value)->size > type->size)
    return uses_.memory.store(uses_.expressions.lower(value),
                              uses_.variables.variable_address(variable), type);
  uses_.variables.store_variable(variable, value);
}

// A `return` in the body ends the probe or function around it, not only the loop.
void ScriptFunctions::leave_if_returned() {
  int32_t leave = b().new_block(), go_on = b().new_block();
  Reg returned = uses_.frame.load_cell(uses_.frame.return_flag());
  b().branch(ir::Compare::Ne, reg(returned), imm(0), leave, go_on);
  b().start(leave);
  if (open_.call && open_.in == b().function()) {
    int32_t end_function = b().new_block(), end_probe = b().new_block();
    b().branch(ir::Compare::Eq, reg(returned), imm(ProgramFrame::kFunctionEnds), end_function,
               end_probe);
    b().start(end_function);
    b().store(uses_.frame.return_flag(), 8, imm(0));
    b().jump(open_.end);
    b().start(end_probe);
  }
  if (uses_.frame.in_callback())
    b().ret(imm(1));
  else if (instance_.kind == ProbeKind::Test)
    b().ret(reg(b().alu(ir::Alu::Shr, reg(returned), imm(1))));
  else
    b().ret(imm(0));
  b().start(go_on);
}

}  // namespace flowtap
