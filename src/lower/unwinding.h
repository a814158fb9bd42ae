#pragma once
// dw_ustack: user stacks of programs that keep no frame pointers; unwinding.cc explains it.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"
#include "lower/stacks.h"
#include "lower/tasks.h"

namespace flowtap {

class Unwinding : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Tasks& tasks;
    RecordBuffer& buffer;
    Stacks& stacks;
  };
  Unwinding(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  void lower_unwound_stack(const Expr& expr, Address to);

 private:
  struct UserRegisters {
    Reg ip, sp, bp;
  };
  struct Layout {
    Reg stack_start, code_end;
  };
  void branch_on_user_mode(Reg registers, int32_t in_user, int32_t in_kernel);
  UserRegisters user_registers(int32_t nothing);
  Layout layout_of_process(int32_t nothing);
  Reg find_unwind_tables(Operand pid, const Layout& layout, int32_t missing);
  void wait_before_asking(Reg entry, int32_t too_early);
  void ask_for_tables(Operand pid, const Layout& layout);

  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
