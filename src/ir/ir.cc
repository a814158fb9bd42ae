// Facts about IR operations that several passes share: effects, names and constant folding.

#include "ir/ir.h"

namespace flowtap::ir {

bool has_effect(const Inst& inst) {
  return inst.op == Op::Store || inst.op == Op::AtomicAdd || inst.op == Op::Call ||
         inst.op == Op::Param;
}

const char* alu_name(Alu alu) {
  switch (alu) {
    case Alu::Add: return "add";
    case Alu::Sub: return "sub";
    case Alu::Mul: return "mul";
    case Alu::Div: return "div";
    case Alu::Mod: return "mod";
    case Alu::Or: return "or";
    case Alu::And: return "and";
    case Alu::Xor: return "xor";
    case Alu::Shl: return "shl";
    case Alu::Shr: return "shr";
    case Alu::Sar: return "sar";
  }
  return "?";
}

const char* compare_name(Compare compare) {
  switch (compare) {
    case Compare::Eq: return "==";
    case Compare::Ne: return "!=";
    case Compare::Gt: return ">";
    case Compare::Ge: return ">=";
    case Compare::Lt: return "<";
    case Compare::Le: return "<=";
    case Compare::SGt: return "s>";
    case Compare::SGe: return "s>=";
    case Compare::SLt: return "s<";
    case Compare::SLe: return "s<=";
    case Compare::Set: return "&";
  }
  return "?";
}

// As the BPF machine computes it: unsigned wrap-around, shift counts modulo 64, and a division
// by zero that yields 0 (or leaves the dividend, for a remainder).
int64_t fold(Alu alu, int64_t sa, int64_t sb) {
  uint64_t a = static_cast<uint64_t>(sa);
  uint64_t b = static_cast<uint64_t>(sb);
  switch (alu) {
    case Alu::Add: return static_cast<int64_t>(a + b);
    case Alu::Sub: return static_cast<int64_t>(a - b);
    case Alu::Mul: return static_cast<int64_t>(a * b);
    case Alu::Div: return static_cast<int64_t>(b ? a / b : 0);
    case Alu::Mod: return static_cast<int64_t>(b ? a % b : a);
    case Alu::Or: return static_cast<int64_t>(a | b);
    case Alu::And: return static_cast<int64_t>(a & b);
    case Alu::Xor: return static_cast<int64_t>(a ^ b);
    case Alu::Shl: return static_cast<int64_t>(a << (b & 63));
    case Alu::Shr: return static_cast<int64_t>(a >> (b & 63));
    case Alu::Sar: return sa >> (b & 63);
  }
  return 0;
}

bool fold(Compare compare, int64_t sa, int64_t sb) {
  uint64_t a = static_cast<uint64_t>(sa);
  uint64_t b = static_cast<uint64_t>(sb);
  switch (compare) {
    case Compare::Eq: return a == b;
    case Compare::Ne: return a != b;
    case Compare::Gt: return a > b;
    case Compare::Ge: return a >= b;
    case Compare::Lt: return a < b;
    case Compare::Le: return a <= b;
    case Compare::SGt: return sa > sb;
    case Compare::SGe: return sa >= sb;
    case Compare::SLt: return sa < sb;
    case Compare::SLe: return sa <= sb;
    case Compare::Set: return (a & b) != 0;
  }
  return false;
}

}  // namespace flowtap::ir
