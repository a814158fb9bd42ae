#pragma once
// Builtins whose type depends on the probe, on the current task or on its stacks.

#include "sema/infer_arguments.h"
#include "sema/inference.h"

namespace flowtap {

class ContextTypes : private Inference {
 public:
  ContextTypes(const Inference& base, Arguments& arguments)
      : Inference(base), arguments_(arguments) {}
  Type context_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                    std::string_view name);
  Type task_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type stack_call_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);

 private:
  void check_unwinding(const Expr& expr);
  Type comm_of_pid_type(const Expr& arg);

  Arguments& arguments_;
};

}  // namespace flowtap
