#pragma once
// Visiting every expression or statement of a tree, parents before children.

#include <functional>

#include "lang/ast.h"

namespace flowtap {

using ExprVisitor = std::function<void(const Expr&)>;

void for_each_expr(const Expr& expr, const ExprVisitor& visit);
void for_each_expr(const Block& block, const ExprVisitor& visit);

using StmtVisitor = std::function<void(const Stmt&)>;

void for_each_stmt(const Block& block, const StmtVisitor& visit);

}  // namespace flowtap
