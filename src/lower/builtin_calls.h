#pragma once
// Which class lowers which builtin.

#include "lower/action_calls.h"
#include "lower/code.h"
#include "lower/context.h"
#include "lower/kernel_objects.h"
#include "lower/lowering.h"
#include "lower/map_values.h"
#include "lower/memory.h"
#include "lower/net_addresses.h"
#include "lower/record_buffer.h"
#include "lower/stacks.h"
#include "lower/strings.h"
#include "lower/tasks.h"
#include "lower/text_reads.h"
#include "lower/unwinding.h"

namespace flowtap {

class BuiltinCalls : private CodeWriter {
 public:
  struct Uses {
    Memory& memory;
    MapValues& maps;
    Tasks& tasks;
    RecordBuffer& buffer;
    ProbeContext& context;
    TextReads& text_reads;
    Strings& strings;
    NetAddresses& net_addresses;
    Stacks& stacks;
    Unwinding& unwinding;
    ActionCalls& actions;
    KernelObjects& kernel_objects;
    ExpressionLowering& expressions;
  };
  BuiltinCalls(const CodeWriter& base, const Uses& uses) : CodeWriter(base), uses_(uses) {}
  Value lower_builtin(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                      std::string_view name);
  bool lower_builtin_into(const Expr& expr, const Builtin& builtin,
                          const std::vector<ExprPtr>& args, Address to, const Type& type);

 private:
  Operand lower_clock(const std::vector<ExprPtr>& args);

  Uses uses_;
};

}  // namespace flowtap
