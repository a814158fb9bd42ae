#pragma once
// What is inside of a value: fields, elements, sizes and offsets.

#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class FieldTypes : private Inference {
 public:
  FieldTypes(const Inference& base, WrittenTypes& types, ExpressionInference& expressions)
      : Inference(base), types_(types), expressions_(expressions) {}
  void infer_member(const Expr& expr, const Member& node, ExprInfo& info);
  void infer_index(const Expr& expr, const Index& node, ExprInfo& info);
  void infer_sizeof(const Expr& expr, const Sizeof& node, ExprInfo& info);
  void infer_offsetof(const Expr& expr, const Offsetof& node, ExprInfo& info);

 private:
  bool infer_setting(const Expr& expr, const Member& node, ExprInfo& info);
  bool infer_type_field(const Member& node, ExprInfo& info);
  void infer_has_field(const Offsetof& node, ExprInfo& info);

  WrittenTypes& types_;
  ExpressionInference& expressions_;
};

}  // namespace flowtap
