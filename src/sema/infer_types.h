#pragma once
// Types as a script writes them, in casts and declarations, and those of the fields that it reads.

#include "sema/inference.h"

namespace flowtap {

class WrittenTypes : private Inference {
 public:
  WrittenTypes(const Inference& base, ExpressionInference& expressions)
      : Inference(base), expressions_(expressions) {}
  Type resolve_type(const TypeSpec& spec);
  Type type_argument(const Expr& arg);
  Type field_type(const Field& field, AddressSpace space);
  AddressSpace default_space() const;
  std::string traced_program() const;  // empty where none is

 private:
  Type find_type(const std::string& name);
  void report_unknown_type(const TypeSpec& spec);

  ExpressionInference& expressions_;
};

}  // namespace flowtap
