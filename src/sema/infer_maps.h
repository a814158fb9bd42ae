#pragma once
// Functions on maps, and aggregations.

#include "sema/infer_arguments.h"
#include "sema/infer_stores.h"
#include "sema/inference.h"

namespace flowtap {

class MapFunctions : private Inference {
 public:
  MapFunctions(const Inference& base, Arguments& arguments, StoredTypes& stores)
      : Inference(base), arguments_(arguments), stores_(stores) {}
  Type aggregation_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type map_function_type(const Expr& expr, const Builtin& builtin,
                         const std::vector<ExprPtr>& args);

 private:
  const Expr* expect_map(const Expr& arg, std::string_view function);

  Arguments& arguments_;
  StoredTypes& stores_;
};

}  // namespace flowtap
