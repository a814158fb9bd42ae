#pragma once
// Statements and blocks.

#include "sema/infer_function.h"
#include "sema/infer_loops.h"
#include "sema/infer_operators.h"
#include "sema/infer_rows.h"
#include "sema/infer_stores.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class StatementTypes : public BlockInference, private Inference {
 public:
  struct Uses {
    WrittenTypes& types;
    StoredTypes& stores;
    RowTypes& rows;
    OperatorTypes& operators;
    FunctionTypes& functions;
    ExpressionInference& expressions;
    LoopTypes& loops;
  };
  StatementTypes(const Inference& base, const Uses& uses) : Inference(base), uses_(uses) {}
  void infer_block(const Block& block) override;
  void infer_let(const Stmt& stmt, const Let& let) override;
  void infer_branches(const Expr& condition, const Block& then, const Block& otherwise,
                      bool is_comptime) override;

 private:
  void infer_stmt(const Stmt& stmt);
  void infer_assign(const Stmt& stmt, const Assign& assign);
  bool makes_signed(const Assign& assign);

  Uses uses_;
};

}  // namespace flowtap
