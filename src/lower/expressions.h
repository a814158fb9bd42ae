#pragma once
// Expressions: operators, casts, choices and conditions.

#include "lower/arithmetic.h"
#include "lower/builtin_calls.h"
#include "lower/code.h"
#include "lower/context.h"
#include "lower/frame.h"
#include "lower/functions.h"
#include "lower/locations.h"
#include "lower/lowering.h"
#include "lower/map_entries.h"
#include "lower/map_values.h"
#include "lower/memory.h"
#include "lower/strings.h"
#include "lower/variables.h"

namespace flowtap {

class Statements;

class ExpressionCode : public ExpressionLowering, private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Arithmetic& arithmetic;
    MapEntries& entries;
    Variables& variables;
    MapValues& maps;
    ProbeContext& context;
    Locations& locations;
    Strings& strings;
    BuiltinCalls& builtins;
    ScriptFunctions& functions;
    Statements& blocks;
  };
  ExpressionCode(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  Value lower(const Expr& expr) override;
  Operand lower_scalar(const Expr& expr) override;
  void lower_into(const Expr& expr, Address to, const Type& type) override;
  void lower_condition(const Expr& condition, int32_t then, int32_t otherwise) override;

 private:
  Operand lower_forgotten(const Expr& expr);
  void lower_type_info(const Type& about, Address to, const Type& record);
  Value lower_unary(const Expr& expr, const Unary& node);
  Value lower_binary(const Expr& expr, const Binary& node);
  Operand keep_during(Operand value, const std::function<void()>& work);
  Value lower_pointer_arithmetic(const Expr& expr, const Binary& node);
  Value lower_as_bool(const Expr& expr);
  // `into`: the register for the result, when there is one already.
  Value lower_ternary(const Expr& expr, const Ternary& node, Reg into = ir::kNoReg);
  Value lower_if_expr(const Expr& expr, const IfExpr& node);
  Value lower_increment(const Expr& expr, const Increment& node);
  Value lower_cast(const Expr& expr, const Cast& node);
  Value lower_choice(const Expr& expr, const std::function<void(int32_t, int32_t)>& branch,
                     const std::function<void(const std::function<void(const Expr&)>&)>& then,
                     const std::function<void(const std::function<void(const Expr&)>&)>& otherwise,
                     Reg into = ir::kNoReg);
  ir::Compare comparison(const Binary& node) const;
  bool compares_signed(const Expr& left, const Expr& right) const;
  Operand pointer_as_number(const Expr& pointer);
  bool may_be_known(const Type& pointer) const;

  const Instance& instance_;
  Uses uses_;
  int depth_ = 0;  // of operators whose left side waits for the right one
};

}  // namespace flowtap
