#pragma once
// Functions on strings, memory and addresses.

#include "sema/infer_arguments.h"
#include "sema/infer_kernel.h"
#include "sema/inference.h"

namespace flowtap {

class MemoryFunctions : private Inference {
 public:
  MemoryFunctions(const Inference& base, Arguments& arguments, KernelFunctions& kernel_functions)
      : Inference(base), arguments_(arguments), kernel_functions_(kernel_functions) {}
  Type memory_function_type(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args);

 private:
  Type string_call_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type buffer_call_type(const Expr& expr, const std::vector<ExprPtr>& args);
  void check_family(const Expr& family, uint32_t bytes);

  Arguments& arguments_;
  KernelFunctions& kernel_functions_;
};

}  // namespace flowtap
