#pragma once
// Calls of builtins: which class knows the type of which.

#include "sema/infer_action.h"
#include "sema/infer_arguments.h"
#include "sema/infer_context.h"
#include "sema/infer_folded.h"
#include "sema/infer_maps.h"
#include "sema/infer_memory.h"
#include "sema/infer_rows.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class CallTypes : private Inference {
 public:
  struct Uses {
    Arguments& arguments;
    WrittenTypes& types;
    RowTypes& rows;
    FoldedCalls& folded;
    ContextTypes& context;
    MemoryFunctions& memory_functions;
    MapFunctions& map_functions;
    ActionTypes& actions;
    ExpressionInference& expressions;
  };
  CallTypes(const Inference& base, const Uses& uses) : Inference(base), uses_(uses) {}
  void infer_call(const Expr& expr, const Call& node, ExprInfo& info);
  void infer_builtin(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                     std::string_view name, ExprInfo& info);

 private:
  void infer_type_info(const Expr& expr, const Call& node, ExprInfo& info);
  void infer_argument(const Expr& arg, Wants wanted);
  void check_argument(const Expr& arg, Wants wanted, std::string_view function);
  Type builtin_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                    std::string_view name);
  Type value_type(const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type config_type();

  Uses uses_;
};

}  // namespace flowtap
