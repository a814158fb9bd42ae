// The walk over a syntax tree; see walk.h.

#include "lang/walk.h"

namespace flowtap {

namespace {

struct Walker {
  const ExprVisitor& visit_expr;
  const StmtVisitor& visit_stmt;

  void expr(const Expr& e) const {
    visit_expr(e);
    std::visit(*this, e.node);
  }
  void expr(const ExprPtr& e) const {
    if (e) expr(*e);
  }
  void exprs(const std::vector<ExprPtr>& list) const {
    for (const ExprPtr& e : list) expr(e);
  }
  void block(const Block& b) const {
    for (const StmtPtr& stmt : b.stmts) {
      visit_stmt(*stmt);
      std::visit(*this, stmt->node);
    }
    expr(b.result);
  }

  // --- children of expressions ---
  void operator()(const IntegerLiteral&) const {}
  void operator()(const StringLiteral&) const {}
  void operator()(const BoolLiteral&) const {}
  void operator()(const Identifier&) const {}
  void operator()(const Parameter&) const {}
  void operator()(const Variable&) const {}
  void operator()(const MapAccess& n) const { expr(n.key); }
  void operator()(const Unary& n) const { expr(n.operand); }
  void operator()(const Binary& n) const { expr(n.left), expr(n.right); }
  void operator()(const Ternary& n) const { expr(n.condition), expr(n.then), expr(n.otherwise); }
  void operator()(const Increment& n) const { expr(n.target); }
  void operator()(const Cast& n) const { expr(n.type.of), expr(n.operand); }
  void operator()(const Member& n) const { expr(n.base); }
  void operator()(const Index& n) const { expr(n.base), expr(n.index); }
  void operator()(const Call& n) const { exprs(n.args); }
  void operator()(const TupleExpr& n) const { exprs(n.elements); }
  void operator()(const RecordExpr& n) const { exprs(n.elements); }
  void operator()(const Sizeof& n) const { expr(n.type.of), expr(n.operand); }
  void operator()(const Offsetof& n) const { expr(n.type.of), expr(n.operand); }
  void operator()(const Typeof& n) const { expr(n.type.of); }
  void operator()(const BlockExpr& n) const { block(n.block); }
  void operator()(const IfExpr& n) const { expr(n.condition), block(n.then), block(n.otherwise); }
  void operator()(const Comptime& n) const { expr(n.operand); }

  void operator()(const FnCall& n) const {
    for (const StmtPtr& param : n.params) std::visit(*this, param->node);
    if (n.result) std::visit(*this, n.result->node);
    block(n.body);
  }

  // --- children of statements ---
  void operator()(const ExprStmt& n) const { expr(n.expr); }
  void operator()(const Assign& n) const { expr(n.target), expr(n.value); }
  void operator()(const Let& n) const { expr(n.type.of), expr(n.value); }
  void operator()(const If& n) const { expr(n.condition), block(n.then), block(n.otherwise); }
  void operator()(const While& n) const { expr(n.condition), block(n.body); }
  void operator()(const Unroll& n) const { expr(n.count), block(n.body); }
  void operator()(const ForRange& n) const { expr(n.begin), expr(n.end), block(n.body); }
  void operator()(const ForMap& n) const { expr(n.map), block(n.body); }
  void operator()(const Break&) const {}
  void operator()(const Continue&) const {}
  void operator()(const Return& n) const { expr(n.value); }
  void operator()(const Emit& n) const { exprs(n.values); }
  void operator()(const Block& n) const { block(n); }
};

}  // namespace

static const ExprVisitor kNoExpr = [](const Expr&) {};
static const StmtVisitor kNoStmt = [](const Stmt&) {};

void for_each_expr(const Expr& expr, const ExprVisitor& visit) {
  Walker{visit, kNoStmt}.expr(expr);
}

void for_each_expr(const Block& block, const ExprVisitor& visit) {
  Walker{visit, kNoStmt}.block(block);
}

void for_each_stmt(const Block& block, const StmtVisitor& visit) {
  Walker{kNoExpr, visit}.block(block);
}

}  // namespace flowtap
