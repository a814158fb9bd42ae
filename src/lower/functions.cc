// Functions of the script. They are put in where they are called: parameters and result are
// variables, and 'return' is a jump to the end of the body, or out of a loop and then there.

#include <utility>

#include "lower/lowering.h"

namespace flowtap {

Value Lowering::lower_fn_call(const FnCall& node) {
  for (const StmtPtr& param : node.params) lower_stmt(*param);
  if (node.result) lower_stmt(*node.result);
  Open outer =
      std::exchange(open_, Open{.call = &node, .end = b().new_block(), .in = b().function()});
  lower_block(node.body);
  b().jump(open_.end);
  b().start(open_.end);
  open_ = outer;
  if (!node.result) return {none_type(), {}, {}};
  return load_variable(instance_.declares.at(node.result.get()));
}

void Lowering::lower_fn_return(const Return& node) {
  if (open_.call->result) pass(instance_.declares.at(open_.call->result.get()), *node.value);
  if (open_.in == b().function()) return b().jump(open_.end);
  b().store(frame_cell(1), 8, imm(kFunctionEnds));
  b().ret(imm(1));
}

// A string may be longer than where it goes, and is cut there, as by a cast.
void Lowering::pass(int variable, const Expr& value) {
  const Type& type = image_.checked().variables[static_cast<size_t>(variable)].type;
  if (is(type, Kind::String) && type_of(value)->size > type->size)
    return store(lower(value), variable_address(variable), type);
  store_variable(variable, value);
}

}  // namespace flowtap
