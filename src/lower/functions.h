#pragma once
// Functions of the script, put in where they are called, and what 'return' means in them.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/variables.h"

namespace flowtap {

class ScriptFunctions : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Variables& variables;
    ExpressionLowering& expressions;
    BlockLowering& blocks;
  };
  ScriptFunctions(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  bool are_open() const { return open_.call != nullptr; }  // a body is being lowered
  Value lower_fn_call(const FnCall& node);
  void lower_fn_return(const Return& node);
  void pass(VariableId variable, const Expr& value);
  void leave_if_returned();

 private:
  const Instance& instance_;
  Uses uses_;
  // The function of the script whose body is being lowered, and where it ends.
  struct Open {
    const FnCall* call = nullptr;
    int32_t end = -1;
    int32_t in = -1;  // the IR function that holds it; loops in its body are others
  };
  Open open_;
};

}  // namespace flowtap
