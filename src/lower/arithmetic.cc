// Operators on numbers; see arithmetic.h.

#include "lower/arithmetic.h"

#include <algorithm>

namespace flowtap {

Value Arithmetic::one_or_zero(int32_t yes, int32_t no) {
  Reg result = b().new_reg();
  int32_t done = b().new_block();
  b().start(yes);
  b().assign(result, imm(1));
  b().jump(done);
  b().start(no);
  b().assign(result, imm(0));
  b().jump(done);
  b().start(done);
  return scalar(bool_type(), frame_.forgotten(bool_type(), reg(result)));
}

Value Arithmetic::lower_arithmetic(BinaryOp op, const Type& type, Operand a, Operand c) {
  bool is_signed_type = is_signed(type);
  Operand result;
  switch (op) {
    case BinaryOp::Add: result = reg(b().alu(ir::Alu::Add, a, c)); break;
    case BinaryOp::Subtract: result = reg(b().alu(ir::Alu::Sub, a, c)); break;
    case BinaryOp::Multiply: result = reg(b().alu(ir::Alu::Mul, a, c)); break;
    case BinaryOp::BitAnd: result = reg(b().alu(ir::Alu::And, a, c)); break;
    case BinaryOp::BitOr: result = reg(b().alu(ir::Alu::Or, a, c)); break;
    case BinaryOp::BitXor: result = reg(b().alu(ir::Alu::Xor, a, c)); break;
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight: {
      ir::Alu alu = op == BinaryOp::ShiftLeft ? ir::Alu::Shl
                    : is_signed_type          ? ir::Alu::Sar
                                              : ir::Alu::Shr;
      // The verifier refuses constant counts over 63 and cannot follow unknown ones.
      Operand count = c.is_imm() ? imm(c.imm & 63) : reg(b().alu(ir::Alu::And, c, imm(63)));
      result = reg(b().alu(alu, a, count));
      break;
    }
    case BinaryOp::Divide: result = lower_division(false, is_signed_type, a, c); break;
    case BinaryOp::Modulo: result = lower_division(true, is_signed_type, a, c); break;
    default: UNREACHABLE("not an arithmetic operator");
  }
  return scalar(type, memory_.narrow(result, type));
}

// BPF divides unsigned numbers only (before 6.6), so signs are taken off and put back.
// A division by zero gives 1, as bpftrace defines it, and is reported.
ir::Operand Arithmetic::lower_division(bool is_modulo, bool is_signed, Operand a, Operand c) {
  Reg result = b().new_reg();
  int32_t divide = b().new_block(), by_zero = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, c, imm(0), divide, by_zero);
  b().start(by_zero);
  note_site(SiteKind::DivisionByZero, is_modulo ? "%" : "/", imm(0));
  b().assign(result, imm(1));
  b().jump(done);
  b().start(divide);
  ir::Alu alu = is_modulo ? ir::Alu::Mod : ir::Alu::Div;
  if (is_signed) {
    auto sign_of = [&](Operand x) { return reg(b().alu(ir::Alu::Sar, x, imm(63))); };
    auto flip = [&](Operand x, Operand sign) {
      return reg(b().alu(ir::Alu::Sub, reg(b().alu(ir::Alu::Xor, x, sign)), sign));
    };
    Operand sign_a = sign_of(a), sign_c = sign_of(c);
    Operand quotient = reg(b().alu(alu, flip(a, sign_a), flip(c, sign_c)));
    Operand sign = is_modulo ? sign_a : reg(b().alu(ir::Alu::Xor, sign_a, sign_c));
    b().assign(result, flip(quotient, sign));
  } else {
    b().assign(result, reg(b().alu(alu, a, c)));
  }
  b().jump(done);
  b().start(done);
  return frame_.forgotten(int_type(8, is_signed), reg(result));
}

// By how much `+ 1` changes a value: pointers move by whole elements.
int64_t Arithmetic::step_of(const Type& type) {
  return is(type, Kind::Pointer) ? std::max(1u, type->element->size) : 1;
}

}  // namespace flowtap
