#pragma once
// Calls that are statements: printf(), print(), exit()...

#include "sema/infer_arguments.h"
#include "sema/infer_kernel.h"
#include "sema/infer_rows.h"
#include "sema/infer_stores.h"
#include "sema/inference.h"

namespace flowtap {

class ActionTypes : private Inference {
 public:
  struct Uses {
    Arguments& arguments;
    StoredTypes& stores;
    RowTypes& rows;
    KernelFunctions& kernel_functions;
  };
  ActionTypes(const Inference& base, const Uses& uses) : Inference(base), uses_(uses) {}
  Type action_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);

 private:
  void check_format(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  void check_print(const Expr& expr, const std::vector<ExprPtr>& args);

  Uses uses_;
};

}  // namespace flowtap
