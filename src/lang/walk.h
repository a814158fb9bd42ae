#pragma once
// Visiting every expression of a tree, parents before children.

#include <functional>

#include "lang/ast.h"

namespace flowtap {

using ExprVisitor = std::function<void(const Expr&)>;

void for_each_expr(const Expr& expr, const ExprVisitor& visit);
void for_each_expr(const Block& block, const ExprVisitor& visit);

}  // namespace flowtap
