#pragma once
// How the classes that lower parts of the language reach the whole of it: an argument of a builtin
// may be any expression, and the body of a loop any block.

#include "lang/ast.h"
#include "lower/value.h"

namespace flowtap {

class ExpressionLowering {
 public:
  virtual ~ExpressionLowering() = default;
  virtual Value lower(const Expr& expr) = 0;
  virtual ir::Operand lower_scalar(const Expr& expr) = 0;
  // Builds a value directly where it is wanted, without a copy on the way.
  virtual void lower_into(const Expr& expr, ir::Address to, const Type& type) = 0;
  // Branches on a condition.
  virtual void lower_condition(const Expr& condition, int32_t then, int32_t otherwise) = 0;
};

class BlockLowering {
 public:
  virtual ~BlockLowering() = default;
  virtual void lower_stmt(const Stmt& stmt) = 0;
  virtual void lower_block(const Block& block) = 0;
};

}  // namespace flowtap
