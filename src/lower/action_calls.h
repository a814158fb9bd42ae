#pragma once
// Calls that are statements: printf(), print(), exit(), clear()..., and rows of tables.

#include <set>

#include "lower/code.h"
#include "lower/events.h"
#include "lower/frame.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"

namespace flowtap {

class ActionCalls : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    RecordBuffer& buffer;
    EventRecords& events;
    ExpressionLowering& expressions;
  };
  ActionCalls(const CodeWriter& base, Program& out, const Uses& uses)
      : CodeWriter(base), out_(out), uses_(uses) {}
  void lower_emit(const Stmt& stmt, const Emit& emit);
  Value lower_action(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  void join_reports(const Block& block);

 private:
  void lower_printf(const Expr& expr, EventKind kind, const std::vector<ExprPtr>& args);
  void lower_print(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_exit(const Expr& expr, const std::vector<ExprPtr>& args);
  void leave_script(Span span, Operand code);
  TableId table_number(std::string_view name) const;
  void lower_time(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_join(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_assert(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_signal(const Builtin& builtin, const Expr& arg);
  void lower_override(const Expr& arg);

  Program& out_;
  Uses uses_;
  std::set<const Expr*> taken_;  // maps in prints and clears that are one action
};

}  // namespace flowtap
