#pragma once
// Functions of the script: parameters, results and 'return'.

#include "sema/infer_stores.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class FunctionTypes : private Inference {
 public:
  struct Uses {
    WrittenTypes& types;
    StoredTypes& stores;
    ExpressionInference& expressions;
    BlockInference& blocks;
  };
  FunctionTypes(const Inference& base, const Uses& uses) : Inference(base), uses_(uses) {}
  void infer_fn_call(const Expr& expr, const FnCall& node);
  void infer_return(const Stmt& stmt, const Return& node);
  bool is_exit(const Stmt& stmt);

 private:
  void infer_parameter(const FnCall& node, const Stmt& stmt);
  void pass(const FnCall& node, VariableId variable, const Expr& value, const std::string& to);
  bool can_pass(const Type& declared, const Expr& value);
  bool always_leaves(const Block& block);

  Uses uses_;
};

}  // namespace flowtap
