// The walk over a syntax tree; see rewriter.h. Children are visited in the order in which they
// were written.

#include "lang/rewriter.h"

#include <algorithm>

#include "base/overloaded.h"

namespace flowtap {

void Rewriter::rewrite(Probe& probe) {
  child(probe.predicate);
  rewrite(probe.body);
}

void Rewriter::rewrite(Block& block) {
  for (StmtPtr& s : block.stmts) stmt(*s);
  child(block.result);
}

void Rewriter::children(TypeSpec& t) { child(t.of); }

void Rewriter::children(Expr& e) {
  auto list = [&](std::vector<ExprPtr>& all) {
    for (ExprPtr& one : all) child(one);
  };
  std::visit(Overloaded{
                 [&](MapAccess& n) { child(n.key); },
                 [&](Unary& n) { child(n.operand); },
                 [&](Binary& n) { child(n.left), child(n.right); },
                 [&](Ternary& n) { child(n.condition), child(n.then), child(n.otherwise); },
                 [&](Increment& n) { child(n.target); },
                 [&](Cast& n) { type(n.type), child(n.operand); },
                 [&](Member& n) { child(n.base); },
                 [&](Index& n) { child(n.base), child(n.index); },
                 [&](Call& n) { list(n.args); },
                 [&](TupleExpr& n) { list(n.elements); },
                 [&](RecordExpr& n) { list(n.elements); },
                 [&](Sizeof& n) { type(n.type), child(n.operand); },
                 [&](Offsetof& n) { type(n.type), child(n.operand); },
                 [&](Typeof& n) { type(n.type); },
                 [&](BlockExpr& n) { rewrite(n.block); },
                 [&](IfExpr& n) { child(n.condition), rewrite(n.then), rewrite(n.otherwise); },
                 [&](Comptime& n) { child(n.operand); },
                 [&](FnCall& n) {
                   for (StmtPtr& param : n.params) stmt(*param);
                   if (n.result) stmt(*n.result);
                   rewrite(n.body);
                 },
                 [](auto&) {},
             },
             e.node);
}

void Rewriter::children(Stmt& s) {
  std::visit(Overloaded{
                 [&](ExprStmt& n) { child(n.expr); },
                 [&](Assign& n) { child(n.target), child(n.value); },
                 [&](Let& n) { type(n.type), child(n.value); },
                 [&](If& n) { child(n.condition), rewrite(n.then), rewrite(n.otherwise); },
                 [&](While& n) { child(n.condition), rewrite(n.body); },
                 [&](Unroll& n) { child(n.count), rewrite(n.body); },
                 [&](ForRange& n) { child(n.begin), child(n.end), rewrite(n.body); },
                 [&](ForMap& n) { child(n.map), rewrite(n.body); },
                 [&](Return& n) { child(n.value); },
                 [&](Emit& n) {
                   for (ExprPtr& value : n.values) child(value);
                 },
                 [&](Block& n) { rewrite(n); },
                 [](auto&) {},
             },
             s.node);
}

namespace {

class HeightMeter : public Rewriter {
 public:
  int highest = 0;

 protected:
  void expr(ExprPtr& e) override {
    level([&] { children(*e); });
  }
  void stmt(Stmt& s) override {
    level([&] { children(s); });
  }

 private:
  void level(const auto& below) {
    highest = std::max(highest, ++height_);
    below();
    height_--;
  }

  int height_ = 0;
};

}  // namespace

int tree_height(ExprPtr& expr) {
  HeightMeter meter;
  meter.rewrite(expr);
  return meter.highest;
}

}  // namespace flowtap
