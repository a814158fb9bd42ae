#pragma once
// Deep copies of syntax trees. Every expression of a copy gets a fresh id from `next_id`, so that
// the same macro body used twice is two different programs to the stages that follow. `origins`,
// when given, learns for each of them the id it was copied from.

#include <cstdint>
#include <vector>

#include "lang/ast.h"

namespace flowtap {

// Null stays null.
ExprPtr clone(const ExprPtr& expr, uint32_t& next_id);
ExprPtr clone(const Expr& expr, uint32_t& next_id, std::vector<uint32_t>* origins = nullptr);
Stmt clone(const Stmt& stmt, uint32_t& next_id);
Block clone(const Block& block, uint32_t& next_id, std::vector<uint32_t>* origins = nullptr);
TypeSpec clone(const TypeSpec& type, uint32_t& next_id);

}  // namespace flowtap
