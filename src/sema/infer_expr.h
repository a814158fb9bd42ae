#pragma once
// Expressions of all kinds.

#include "sema/infer_arguments.h"
#include "sema/infer_call.h"
#include "sema/infer_field.h"
#include "sema/infer_function.h"
#include "sema/infer_operators.h"
#include "sema/infer_stores.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class StatementTypes;

class ExpressionTypes : public ExpressionInference, private Inference {
 public:
  struct Uses {
    Arguments& arguments;
    WrittenTypes& types;
    StoredTypes& stores;
    CallTypes& calls;
    OperatorTypes& operators;
    FieldTypes& fields;
    FunctionTypes& functions;
    StatementTypes& blocks;
  };
  ExpressionTypes(const Inference& base, const Uses& uses) : Inference(base), uses_(uses) {}
  const Type& infer(const Expr& expr) override;
  Type infer_value(const Expr& expr) override;  // aggregations read as integers
  void infer_condition(const Expr& condition) override;

 private:
  void infer_node(const Expr& expr, ExprInfo& info);
  Type infer_element(const Expr& element);
  bool are_elements(const Expr& expr, const std::vector<Type>& types);
  void check_text_length(const Expr& expr, const std::string& text);
  void infer_identifier(const Expr& expr, const Identifier& node, ExprInfo& info);
  void infer_ternary(const Expr& expr, const Ternary& node, ExprInfo& info);
  void infer_if_expr(const Expr& expr, const IfExpr& node, ExprInfo& info);
  void infer_increment(const Expr& expr, const Increment& node, ExprInfo& info);
  bool has_address(const Expr& expr);
  void infer_cast(const Expr& expr, const Cast& node, ExprInfo& info);
  void check_enum_cast(const Expr& expr, const Type& to, const ExprInfo& operand);

  Uses uses_;
};

}  // namespace flowtap
