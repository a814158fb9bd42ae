#pragma once
// Walks a syntax tree and lets a pass change it. A pass overrides the hooks for what it is about
// and calls children() to go on below.

#include "lang/ast.h"

namespace flowtap {

class Rewriter {
 public:
  virtual ~Rewriter() = default;

  void rewrite(Probe& probe);
  void rewrite(Block& block);
  void rewrite(ExprPtr& e) { expr(e); }

 protected:
  // `e` is never null and may be replaced.
  virtual void expr(ExprPtr& e) { children(*e); }
  virtual void stmt(Stmt& s) { children(s); }
  virtual void type(TypeSpec& t) { children(t); }

  void children(Expr& e);
  void children(Stmt& s);
  void children(TypeSpec& t);

 private:
  void child(ExprPtr& e) {
    if (e) expr(e);
  }
};

// How deep the tree below this expression is.
int tree_height(ExprPtr& expr);

}  // namespace flowtap
