#pragma once
// Operators: types, constants, and mistakes.

#include "sema/infer_arguments.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class OperatorTypes : private Inference {
 public:
  OperatorTypes(const Inference& base, Arguments& arguments, WrittenTypes& types,
                ExpressionInference& expressions)
      : Inference(base), arguments_(arguments), types_(types), expressions_(expressions) {}
  void infer_unary(const Expr& expr, const Unary& node, ExprInfo& info);
  void infer_binary(const Expr& expr, const Binary& node, ExprInfo& info);
  bool check_compound(const Stmt& stmt, const Assign& assign, const Type& have);

 private:
  void infer_pointer_arithmetic(const Expr& expr, const Binary& node, const Type& left,
                                const Type& right, ExprInfo& info);
  void infer_comparison(const Expr& expr, const Binary& node, const Type& left, const Type& right,
                        ExprInfo& info);
  bool is_decided(const Binary& node, ExprInfo& info);
  void fold_binary(const Expr& expr, const Binary& node, ExprInfo& info);
  bool is_never_negative(const Expr& expr);
  void warn_about_sign(const Expr& expr, const Binary& node);
  Type arithmetic_type(const Expr& expr, const Binary& node);
  Type assumed_number(const Binary& node, const Type& left, const Type& right);

  Arguments& arguments_;
  WrittenTypes& types_;
  ExpressionInference& expressions_;
};

}  // namespace flowtap
