#pragma once
// Loops, and how deep they are.

#include "sema/infer_stores.h"
#include "sema/inference.h"

namespace flowtap {

class LoopTypes : private Inference {
 public:
  LoopTypes(const Inference& base, StoredTypes& stores, ExpressionInference& expressions,
            BlockInference& blocks)
      : Inference(base), stores_(stores), expressions_(expressions), blocks_(blocks) {}
  void infer_for_range(const Stmt& stmt, const ForRange& loop);
  void infer_for_map(const Stmt& stmt, const ForMap& loop);
  void infer_unroll(const Stmt& stmt, const Unroll& unroll);
  void need_loop(const Stmt& stmt, const char* word);
  void infer_while(const Stmt& stmt, const While& loop);

 private:
  void infer_rounds(const Stmt& stmt, const Block& body, uint64_t rounds);
  void enter_loop(Span span);

  StoredTypes& stores_;
  ExpressionInference& expressions_;
  BlockInference& blocks_;
};

}  // namespace flowtap
