#pragma once
// The probe's context: its arguments, result and registers, whatever kind of program it is.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"
#include "lower/tasks.h"

namespace flowtap {

class ProbeContext : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Tasks& tasks;
    RecordBuffer& buffer;
  };
  ProbeContext(const CodeWriter& base, const Instance& instance, Program& out, const Uses& uses)
      : CodeWriter(base), instance_(instance), out_(out), uses_(uses) {}
  Value lower_context(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                      std::string_view name);
  Operand instruction_pointer();
  Operand argument_of(const Field& field);
  Operand context_word(const Field& field);
  Reg data_address(const Field& field);

 private:
  Value lower_kernel_function(const Type& type);
  Value lower_user_function(const Type& type);
  Operand result();
  Reg saved_register(int32_t offset);
  Operand named_register(const std::string& name);
  Operand user_mode();
  Operand argument(int number);
  Operand usdt_argument(const UsdtArgument& arg);
  Operand known_pointer(Operand value, const Type& type);

  const Instance& instance_;
  Program& out_;
  Uses uses_;
};

}  // namespace flowtap
