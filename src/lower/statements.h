#pragma once
// Statements and blocks.

#include "lower/action_calls.h"
#include "lower/arithmetic.h"
#include "lower/code.h"
#include "lower/frame.h"
#include "lower/functions.h"
#include "lower/loops.h"
#include "lower/lowering.h"
#include "lower/map_values.h"
#include "lower/memory.h"
#include "lower/variables.h"

namespace flowtap {

class Statements : public BlockLowering, private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Arithmetic& arithmetic;
    Variables& variables;
    MapValues& maps;
    ActionCalls& actions;
    ExpressionLowering& expressions;
    ScriptFunctions& functions;
    Loops& loops;
  };
  Statements(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  void lower_stmt(const Stmt& stmt) override;
  void lower_block(const Block& block) override;

 private:
  void lower_assign(const Assign& assign);
  void lower_compound(const Assign& assign);
  Type compound_type(const Assign& assign, const Type& target) const;
  void lower_let(const Stmt& stmt, const Let& let);
  void lower_if(const Expr& condition, const Block& then, const Block& otherwise, bool is_comptime);

  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
