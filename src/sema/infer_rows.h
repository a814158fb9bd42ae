#pragma once
// Rows of tables: 'emit', and print() of a whole table.

#include "sema/infer_arguments.h"
#include "sema/inference.h"

namespace flowtap {

class RowTypes : private Inference {
 public:
  RowTypes(const Inference& base, Arguments& arguments, ExpressionInference& expressions)
      : Inference(base), arguments_(arguments), expressions_(expressions) {}
  void infer_emit(const Stmt& stmt, const Emit& emit);
  const TableDecl* find_table(std::string_view name) const;  // null when there is none
  void check_print_table(const Expr& expr, const TableDecl& table,
                         const std::vector<ExprPtr>& args);

 private:
  void check_cell(const TableDecl& table, size_t number, const Expr& value);

  Arguments& arguments_;
  ExpressionInference& expressions_;
};

}  // namespace flowtap
