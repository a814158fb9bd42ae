// Deep copies; see clone.h. One overload of Cloner::copy per node that owns other nodes; the
// rest are copied as the plain values they are.

#include "lang/clone.h"

#include <utility>

namespace flowtap {

namespace {

class Cloner {
 public:
  explicit Cloner(uint32_t& next_id, std::vector<uint32_t>* origins = nullptr)
      : next_id_(next_id), origins_(origins) {}

  ExprPtr copy(const ExprPtr& expr) { return expr ? copy(*expr) : nullptr; }

  ExprPtr copy(const Expr& expr) {
    auto out = std::make_unique<Expr>();
    out->id = next_id_++;
    out->span = expr.span;
    if (origins_) {
      origins_->resize(next_id_);
      origins_->back() = expr.id;
    }
    std::visit([&](const auto& node) { out->node = copy(node); }, expr.node);
    return out;
  }

  std::vector<ExprPtr> copy(const std::vector<ExprPtr>& list) {
    std::vector<ExprPtr> out;
    out.reserve(list.size());
    for (const ExprPtr& expr : list) out.push_back(copy(expr));
    return out;
  }

  Stmt copy(const Stmt& stmt) {
    Stmt out;
    out.span = stmt.span;
    std::visit([&](const auto& node) { out.node = copy(node); }, stmt.node);
    return out;
  }

  StmtPtr copy(const StmtPtr& stmt) { return stmt ? std::make_unique<Stmt>(copy(*stmt)) : nullptr; }

  std::vector<StmtPtr> copy(const std::vector<StmtPtr>& list) {
    std::vector<StmtPtr> out;
    out.reserve(list.size());
    for (const StmtPtr& stmt : list) out.push_back(copy(stmt));
    return out;
  }

  Block copy(const Block& n) {
    Block out;
    out.span = n.span;
    out.stmts = copy(n.stmts);
    out.result = copy(n.result);
    return out;
  }

  TypeSpec copy(const TypeSpec& n) { return {n.span, n.name, copy(n.of), n.suffixes}; }

  IntegerLiteral copy(const IntegerLiteral& n) { return n; }
  StringLiteral copy(const StringLiteral& n) { return n; }
  BoolLiteral copy(const BoolLiteral& n) { return n; }
  Identifier copy(const Identifier& n) { return n; }
  Parameter copy(const Parameter& n) { return n; }
  Variable copy(const Variable& n) { return n; }
  MapAccess copy(const MapAccess& n) { return {n.name, copy(n.key)}; }
  Unary copy(const Unary& n) { return {n.op, copy(n.operand)}; }
  Binary copy(const Binary& n) { return {n.op, copy(n.left), copy(n.right)}; }
  Ternary copy(const Ternary& n) { return {copy(n.condition), copy(n.then), copy(n.otherwise)}; }
  Increment copy(const Increment& n) { return {n.is_prefix, n.delta, copy(n.target)}; }
  Cast copy(const Cast& n) { return {copy(n.type), copy(n.operand)}; }
  Member copy(const Member& n) { return {copy(n.base), n.name}; }
  Index copy(const Index& n) { return {copy(n.base), copy(n.index)}; }
  Call copy(const Call& n) { return {n.name, copy(n.args)}; }
  TupleExpr copy(const TupleExpr& n) { return {copy(n.elements)}; }
  RecordExpr copy(const RecordExpr& n) { return {n.names, copy(n.elements)}; }
  Sizeof copy(const Sizeof& n) { return {copy(n.type), copy(n.operand)}; }
  Offsetof copy(const Offsetof& n) { return {copy(n.type), copy(n.operand), n.path, n.only_asks}; }
  Typeof copy(const Typeof& n) { return {copy(n.type)}; }
  BlockExpr copy(const BlockExpr& n) { return {copy(n.block)}; }
  IfExpr copy(const IfExpr& n) {
    return {copy(n.condition), copy(n.then), copy(n.otherwise), n.is_comptime};
  }
  Comptime copy(const Comptime& n) { return {copy(n.operand)}; }

  FnCall copy(const FnCall& n) {
    return {n.name, n.declared, copy(n.params), copy(n.result), copy(n.body)};
  }

  ExprStmt copy(const ExprStmt& n) { return {copy(n.expr)}; }
  Assign copy(const Assign& n) { return {copy(n.target), copy(n.value), n.is_compound, n.op}; }
  Let copy(const Let& n) {
    return {n.name, n.has_type, copy(n.type), copy(n.value), n.name_span, n.is_parameter};
  }
  If copy(const If& n) {
    return {copy(n.condition), copy(n.then), copy(n.otherwise), n.is_comptime};
  }
  While copy(const While& n) { return {copy(n.condition), copy(n.body)}; }
  Unroll copy(const Unroll& n) { return {copy(n.count), copy(n.body)}; }
  ForRange copy(const ForRange& n) {
    return {n.name, copy(n.begin), copy(n.end), copy(n.body), n.name_span};
  }
  ForMap copy(const ForMap& n) { return {n.name, copy(n.map), copy(n.body), n.name_span}; }
  Break copy(const Break& n) { return n; }
  Continue copy(const Continue& n) { return n; }
  Return copy(const Return& n) { return {copy(n.value)}; }
  Emit copy(const Emit& n) { return {n.table, n.table_span, copy(n.values)}; }

 private:
  uint32_t& next_id_;
  std::vector<uint32_t>* origins_;
};

}  // namespace

ExprPtr clone(const ExprPtr& expr, uint32_t& next_id) { return Cloner(next_id).copy(expr); }

ExprPtr clone(const Expr& expr, uint32_t& next_id, std::vector<uint32_t>* origins) {
  return Cloner(next_id, origins).copy(expr);
}

Stmt clone(const Stmt& stmt, uint32_t& next_id) { return Cloner(next_id).copy(stmt); }
Block clone(const Block& block, uint32_t& next_id, std::vector<uint32_t>* origins) {
  return Cloner(next_id, origins).copy(block);
}
TypeSpec clone(const TypeSpec& type, uint32_t& next_id) { return Cloner(next_id).copy(type); }

}  // namespace flowtap
