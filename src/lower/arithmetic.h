#pragma once
// Operators on numbers that are in registers already.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/memory.h"

namespace flowtap {

class Arithmetic : private CodeWriter {
 public:
  Arithmetic(const CodeWriter& base, ProgramFrame& frame, Memory& memory)
      : CodeWriter(base), frame_(frame), memory_(memory) {}
  Value lower_arithmetic(BinaryOp op, const Type& type, Operand left, Operand right);
  Operand lower_division(bool is_modulo, bool is_signed, Operand left, Operand right);
  static int64_t step_of(const Type& type);
  // A value of two blocks that are still empty: 1 in the first, 0 in the second. Goes on after
  // them.
  Value one_or_zero(int32_t yes, int32_t no);

 private:
  ProgramFrame& frame_;
  Memory& memory_;
};

}  // namespace flowtap
