#pragma once
// The intermediate form: functions of basic blocks over virtual registers of 64 bits.
// It is close to BPF (loads, stores, helper calls) but knows no physical register, no stack
// offset and no jump distance. A register may be written more than once: there are no phi nodes.
// Larger values live in slots, which code generation puts on the stack or into scratch memory.

#include <cstdint>
#include <string>
#include <vector>

#include "source/source.h"

namespace flowtap::ir {

using Reg = int32_t;
inline constexpr Reg kNoReg = -1;

struct Operand {
  Reg reg = kNoReg;
  int64_t imm = 0;  // when reg is kNoReg

  bool is_imm() const { return reg == kNoReg; }
  bool operator==(const Operand&) const = default;
};
inline Operand reg_operand(Reg reg) { return {.reg = reg}; }
inline Operand imm_operand(int64_t imm) { return {.imm = imm}; }

// Memory the program may touch directly: a register plus offset, or a place in a slot.
struct Address {
  Reg base = kNoReg;
  int32_t slot = -1;  // index into Program::slots, when base is kNoReg
  int32_t offset = 0;

  bool operator==(const Address&) const = default;
};

enum class Op : uint8_t {
  Const,       // dst = imm
  Move,        // dst = a
  Alu,         // dst = a <alu> b
  Negate,      // dst = -a
  ByteSwap,    // dst = a with its low `size` bytes reversed, zero extended
  Extend,      // dst = low `size` bytes of a, extended by sign if is_signed
  Load,        // dst = memory at `address`, `size` bytes, zero extended
  Store,       // memory at `address`, `size` bytes = b
  AtomicAdd,   // memory at `address`, `size` bytes += b, seen by every CPU
  AddressOf,   // dst = the address itself
  MapPointer,  // dst = map number `imm`
  MapValue,    // dst = address of the first value of array map `imm`, plus address.offset
  Callback,    // dst = function number `imm`
  Param,       // dst = parameter number `imm`; only at the start of a function
  Call,        // dst = helper `imm` (args...), or kfunc with BTF id `imm` - kKfunc
};
inline constexpr int64_t kKfunc = int64_t{1} << 32;

enum class Alu : uint8_t { Add, Sub, Mul, Div, Mod, Or, And, Xor, Shl, Shr, Sar };
enum class Compare : uint8_t {
  Eq,
  Ne,
  Gt,
  Ge,
  Lt,
  Le,
  SGt,
  SGe,
  SLt,
  SLe,
  Set
};  // Set: a & b != 0

struct Inst {
  Op op = Op::Const;
  Alu alu = Alu::Add;
  uint8_t size = 8;
  bool is_signed = false;
  Reg dst = kNoReg;
  Operand a, b;
  Address address;
  int64_t imm = 0;
  std::vector<Operand> args;  // Call: up to five
  Span span;
};

enum class ExitKind : uint8_t { Jump, Branch, Return };

struct Exit {
  ExitKind kind = ExitKind::Return;
  Compare compare = Compare::Eq;
  Operand a, b;            // Branch: compared; Return: a is the result
  int32_t then = -1;       // Jump, Branch
  int32_t otherwise = -1;  // Branch
  Span span;
};

struct Block {
  std::vector<Inst> insts;
  Exit exit;
};

// Where a slot may be put. Shared slots are seen by the loop callbacks of the same program too.
enum class Place : uint8_t { Auto, Stack, Scratch };

struct Slot {
  uint32_t size = 8;
  uint32_t alignment = 8;
  Place place = Place::Auto;
  int32_t function = 0;  // owner
};

struct Function {
  std::string name;
  std::vector<Block> blocks;  // entry first; no jump goes backwards
  int32_t registers = 0;
  uint32_t params = 0;
  int32_t parent = -1;  // the function that passes this one to a helper; -1 for the program itself
};

struct Program {
  std::string name;
  std::vector<Function> functions;
  std::vector<Slot> slots;
  int32_t scratch_map = -1;   // array map that holds Scratch slots, one frame per CPU
  uint32_t scratch_size = 0;  // bytes of this program's frame; set when slots are placed
  uint32_t cpus = 1;          // frames in the scratch map
};

// --- asking ------------------------------------------------------------------------------------
bool has_effect(const Inst& inst);
// Calls f(Reg&) for every register an instruction or exit reads. (A template because the
// optimiser rewrites through it and the liveness pass only looks.)
template <typename I, typename F>
void for_each_use(I& inst, F f) {
  if (inst.a.reg != kNoReg) f(inst.a.reg);
  if (inst.b.reg != kNoReg) f(inst.b.reg);
  if (inst.address.base != kNoReg) f(inst.address.base);
  for (auto& arg : inst.args)
    if (arg.reg != kNoReg) f(arg.reg);
}
template <typename E, typename F>
void for_each_exit_use(E& exit, F f) {
  if (exit.a.reg != kNoReg) f(exit.a.reg);
  if (exit.b.reg != kNoReg) f(exit.b.reg);
}

int64_t fold(Alu alu, int64_t a, int64_t b);
bool fold(Compare compare, int64_t a, int64_t b);

// --- printing and checking -----------------------------------------------------------------------
const char* alu_name(Alu alu);
const char* compare_name(Compare compare);
std::string print(const Program& program);
// Empty when the program is well formed, else what is wrong with it.
std::string check(const Program& program);

// --- improving -----------------------------------------------------------------------------------
// Folds constants, forwards copies, drops unreachable blocks and results nobody reads.
void simplify(Program& program);

}  // namespace flowtap::ir
