// Instruction choice: IR with physical registers -> BPF instructions.
// Way in: generate(). BPF instructions have two operands and 16-bit jumps; r0 is never given to a
// value, so it serves to break cycles of moves and to hold what an instruction cannot take
// directly. Slots are placed with less and less stack until program and callbacks fit 512 bytes.

#include <fmt/format.h>
#include <linux/bpf.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "codegen/codegen.h"

namespace flowtap::codegen {

namespace {

using ir::kNoReg;
using ir::Reg;

constexpr uint8_t kTemp = 0;    // r0
constexpr uint8_t kFrame = 10;  // r10
// Far enough from 32767 for the longest instruction and the island itself.
constexpr size_t kIslandDistance = 28000;

uint8_t size_code(uint8_t bytes) {
  switch (bytes) {
    case 1: return BPF_B;
    case 2: return BPF_H;
    case 4: return BPF_W;
    default: return BPF_DW;
  }
}

uint8_t alu_code(ir::Alu alu) {
  switch (alu) {
    case ir::Alu::Add: return BPF_ADD;
    case ir::Alu::Sub: return BPF_SUB;
    case ir::Alu::Mul: return BPF_MUL;
    case ir::Alu::Div: return BPF_DIV;
    case ir::Alu::Mod: return BPF_MOD;
    case ir::Alu::Or: return BPF_OR;
    case ir::Alu::And: return BPF_AND;
    case ir::Alu::Xor: return BPF_XOR;
    case ir::Alu::Shl: return BPF_LSH;
    case ir::Alu::Shr: return BPF_RSH;
    case ir::Alu::Sar: return BPF_ARSH;
  }
  UNREACHABLE("an operation without a code");
}

uint8_t compare_code(ir::Compare compare) {
  switch (compare) {
    case ir::Compare::Eq: return BPF_JEQ;
    case ir::Compare::Ne: return BPF_JNE;
    case ir::Compare::Gt: return BPF_JGT;
    case ir::Compare::Ge: return BPF_JGE;
    case ir::Compare::Lt: return BPF_JLT;
    case ir::Compare::Le: return BPF_JLE;
    case ir::Compare::SGt: return BPF_JSGT;
    case ir::Compare::SGe: return BPF_JSGE;
    case ir::Compare::SLt: return BPF_JSLT;
    case ir::Compare::SLe: return BPF_JSLE;
    case ir::Compare::Set: return BPF_JSET;
  }
  UNREACHABLE("a comparison without a code");
}

// The comparison that holds when this one does not; Set has none.
ir::Compare inverted(ir::Compare compare) {
  switch (compare) {
    case ir::Compare::Eq: return ir::Compare::Ne;
    case ir::Compare::Ne: return ir::Compare::Eq;
    case ir::Compare::Gt: return ir::Compare::Le;
    case ir::Compare::Ge: return ir::Compare::Lt;
    case ir::Compare::Lt: return ir::Compare::Ge;
    case ir::Compare::Le: return ir::Compare::Gt;
    case ir::Compare::SGt: return ir::Compare::SLe;
    case ir::Compare::SGe: return ir::Compare::SLt;
    case ir::Compare::SLt: return ir::Compare::SGe;
    case ir::Compare::SLe: return ir::Compare::SGt;
    case ir::Compare::Set: return compare;
  }
  return compare;
}

// The comparison that holds when its operands are exchanged.
ir::Compare mirrored(ir::Compare compare) {
  switch (compare) {
    case ir::Compare::Gt: return ir::Compare::Lt;
    case ir::Compare::Ge: return ir::Compare::Le;
    case ir::Compare::Lt: return ir::Compare::Gt;
    case ir::Compare::Le: return ir::Compare::Ge;
    case ir::Compare::SGt: return ir::Compare::SLt;
    case ir::Compare::SGe: return ir::Compare::SLe;
    case ir::Compare::SLt: return ir::Compare::SGt;
    case ir::Compare::SLe: return ir::Compare::SGe;
    default: return compare;
  }
}

bool commutes(ir::Alu alu) {
  return alu == ir::Alu::Add || alu == ir::Alu::Mul || alu == ir::Alu::Or || alu == ir::Alu::And ||
         alu == ir::Alu::Xor;
}

bool fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// A move of a call argument or parameter; all of a group happen at once.
struct PendingMove {
  uint8_t dst = 0;
  bool is_imm = false;
  uint8_t src = 0;
  int64_t imm = 0;
};

class Emitter {
 public:
  Emitter(const ir::Program& program, const Frame& frame, Program& out)
      : program_(program), frame_(frame), out_(out) {}

  void emit_function(const ir::Function& function, const Allocation& allocation) {
    allocation_ = &allocation;
    is_callback_ = function.parent >= 0;
    function_start_ = out_.insns.size();
    out_.subprograms.push_back({function.name, static_cast<uint32_t>(function_start_)});
    function_starts_[&function - program_.functions.data()] = function_start_;
    jumps_.clear();
    emit_params(function);
    for (size_t b = 0; b < function.blocks.size(); b++) {
      land_jumps(static_cast<int32_t>(b));
      for (const ir::Inst& inst : function.blocks[b].insts) {
        put_island_if_needed();
        emit_inst(inst);
      }
      put_island_if_needed();
      emit_exit(function.blocks[b].exit, static_cast<int32_t>(b + 1));
    }
    CHECK(jumps_.empty());  // no jump goes backwards
  }

  void resolve_callbacks() {
    for (const auto& [insn, function] : callbacks_)
      out_.insns[insn].imm =
          static_cast<int32_t>(function_starts_.at(function)) - static_cast<int32_t>(insn) - 1;
  }

 private:
  struct Jump {
    size_t insn;
    int32_t block;
  };

  void land(const Jump& jump) {
    size_t distance = out_.insns.size() - jump.insn - 1;
    CHECK(distance <= INT16_MAX);
    out_.insns[jump.insn].off = static_cast<int16_t>(distance);
  }

  // The jumps to this block, which begins here.
  void land_jumps(int32_t block) {
    for (const Jump& jump : jumps_)
      if (jump.block == block) land(jump);
    std::erase_if(jumps_, [&](const Jump& jump) { return jump.block == block; });
  }

  // A jump reaches 32767 instructions. Those that come near it land on a row of jumps put in
  // between, which go on from there:
  //
  //     goto over;  a: goto block 7;  b: goto block 9;  over: ...
  void put_island_if_needed() {
    if (jumps_.empty() || out_.insns.size() - jumps_.front().insn < kIslandDistance) return;
    std::vector<Jump> waiting = std::exchange(jumps_, {});
    size_t over = out_.insns.size();
    put(BPF_JMP | BPF_JA, 0, 0, 0, 0);
    while (!waiting.empty()) {
      int32_t block = waiting.front().block;
      for (const Jump& jump : waiting)
        if (jump.block == block) land(jump);
      std::erase_if(waiting, [&](const Jump& jump) { return jump.block == block; });
      jumps_.push_back({out_.insns.size(), block});
      put(BPF_JMP | BPF_JA, 0, 0, 0, 0);
    }
    land({over, 0});
  }

  uint8_t phys(Reg reg) const {
    return static_cast<uint8_t>(allocation_->physical[static_cast<size_t>(reg)]);
  }

  void put(uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm) {
    out_.insns.push_back({.code = code, .dst = dst, .src = src, .off = off, .imm = imm});
    out_.spans.push_back(span_);
  }

  void put_wide(uint8_t dst, uint8_t pseudo, int32_t low, int32_t high) {
    put(BPF_LD | BPF_IMM | BPF_DW, dst, pseudo, 0, low);
    put(0, 0, 0, 0, high);
  }

  void put_move(uint8_t dst, uint8_t src) {
    if (dst != src) put(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
  }

  void put_const(uint8_t dst, int64_t value) {
    if (fits(value))
      put(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, static_cast<int32_t>(value));
    else if (value > 0 && value <= UINT32_MAX)
      put(BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, static_cast<int32_t>(value));
    else
      put_wide(dst, 0, static_cast<int32_t>(value), static_cast<int32_t>(value >> 32));
  }

  // The operand in a register: its own, or r0 with the constant in it.
  uint8_t in_register(const ir::Operand& operand) {
    if (!operand.is_imm()) return phys(operand.reg);
    put_const(kTemp, operand.imm);
    return kTemp;
  }

  struct Based {
    uint8_t reg;
    int16_t offset;
  };

  Based based(const ir::Address& address) const {
    if (address.base != kNoReg) {
      CHECK(address.offset >= INT16_MIN && address.offset <= INT16_MAX);
      return {phys(address.base), static_cast<int16_t>(address.offset)};
    }
    const Frame::Home& home = frame_.homes[static_cast<size_t>(address.slot)];
    CHECK(home.is_stack);
    return {kFrame, static_cast<int16_t>(home.offset + address.offset)};
  }

  // --- groups of moves ----------------------------------------------------------------------
  // Moves whose target nobody still has to read go first; a cycle is broken through r0.
  void put_moves(std::vector<PendingMove> moves) {
    std::erase_if(moves, [](const PendingMove& m) { return !m.is_imm && m.dst == m.src; });
    while (!moves.empty()) {
      auto is_ready = [&](const PendingMove& m) {
        return std::none_of(moves.begin(), moves.end(), [&](const PendingMove& other) {
          return &other != &m && !other.is_imm && other.src == m.dst;
        });
      };
      auto ready = std::find_if(moves.begin(), moves.end(), is_ready);
      if (ready == moves.end()) {
        put_move(kTemp, moves.front().src);
        uint8_t parked = moves.front().src;
        for (PendingMove& m : moves)
          if (!m.is_imm && m.src == parked) m.src = kTemp;
        continue;
      }
      if (ready->is_imm)
        put_const(ready->dst, ready->imm);
      else
        put_move(ready->dst, ready->src);
      moves.erase(ready);
    }
  }

  void emit_params(const ir::Function& function) {
    std::vector<PendingMove> moves;
    for (const ir::Inst& inst : function.blocks[0].insts)
      if (inst.op == ir::Op::Param)
        moves.push_back({.dst = phys(inst.dst), .src = static_cast<uint8_t>(inst.imm + 1)});
    put_moves(std::move(moves));
  }

  // --- instructions -------------------------------------------------------------------------
  void emit_inst(const ir::Inst& inst) {
    span_ = inst.span;
    switch (inst.op) {
      case ir::Op::Const: return put_const(phys(inst.dst), inst.imm);
      case ir::Op::Move: return emit_move(inst);
      case ir::Op::Alu: return emit_alu(inst);
      case ir::Op::Negate:
        put_move(phys(inst.dst), in_register(inst.a));
        return put(BPF_ALU64 | BPF_NEG, phys(inst.dst), 0, 0, 0);
      case ir::Op::ByteSwap:
        put_move(phys(inst.dst), in_register(inst.a));
        return put(BPF_ALU | BPF_END | BPF_TO_BE, phys(inst.dst), 0, 0, inst.size * 8);
      case ir::Op::Extend: return emit_extend(inst);
      case ir::Op::Load: {
        Based from = based(inst.address);
        return put(static_cast<uint8_t>(BPF_LDX | BPF_MEM | size_code(inst.size)), phys(inst.dst),
                   from.reg, from.offset, 0);
      }
      case ir::Op::Store: return emit_store(inst);
      case ir::Op::AtomicAdd: {
        uint8_t value = in_register(inst.b);
        Based to = based(inst.address);
        return put(static_cast<uint8_t>(BPF_STX | BPF_ATOMIC | size_code(inst.size)), to.reg, value,
                   to.offset, BPF_ADD);
      }
      case ir::Op::AddressOf: return emit_address(inst);
      case ir::Op::MapPointer:
        out_.relocations.push_back(
            {here(), Relocation::Kind::MapFd, static_cast<int>(inst.imm), {}});
        return put_wide(phys(inst.dst), BPF_PSEUDO_MAP_FD, 0, 0);
      case ir::Op::MapValue:
        out_.relocations.push_back(
            {here(), Relocation::Kind::MapValue, static_cast<int>(inst.imm), {}});
        return put_wide(phys(inst.dst), BPF_PSEUDO_MAP_VALUE, 0, inst.address.offset);
      case ir::Op::Callback:
        callbacks_.emplace_back(here(), inst.imm);
        return put_wide(phys(inst.dst), BPF_PSEUDO_FUNC, 0, 0);
      case ir::Op::Param: return;
      case ir::Op::Call: return emit_call(inst);
    }
  }

  uint32_t here() const { return static_cast<uint32_t>(out_.insns.size()); }

  void emit_move(const ir::Inst& inst) {
    if (inst.a.is_imm())
      put_const(phys(inst.dst), inst.a.imm);
    else
      put_move(phys(inst.dst), phys(inst.a.reg));
  }

  void emit_alu(const ir::Inst& inst) {
    ir::Operand a = inst.a, b = inst.b;
    uint8_t dst = phys(inst.dst);
    // Where a number is added to a pointer, the pointer is on the left and must stay there: of
    // 'number += pointer' the verifier forgets in which frame the pointer points.
    bool may_swap = commutes(inst.alu) && !(is_callback_ && inst.alu == ir::Alu::Add);
    if (!b.is_imm() && phys(b.reg) == dst && may_swap) std::swap(a, b);
    uint8_t code = static_cast<uint8_t>(BPF_ALU64 | alu_code(inst.alu));
    bool clobbers_b = !b.is_imm() && phys(b.reg) == dst && !(!a.is_imm() && phys(a.reg) == dst);
    if (clobbers_b) {
      put_move(kTemp, dst);
      load_operand(dst, a);
      return put(code | BPF_X, dst, kTemp, 0, 0);
    }
    load_operand(dst, a);
    if (b.is_imm() && fits(b.imm)) return put(code | BPF_K, dst, 0, 0, static_cast<int32_t>(b.imm));
    put(code | BPF_X, dst, in_register(b), 0, 0);
  }

  void load_operand(uint8_t dst, const ir::Operand& operand) {
    if (operand.is_imm())
      put_const(dst, operand.imm);
    else
      put_move(dst, phys(operand.reg));
  }

  void emit_extend(const ir::Inst& inst) {
    uint8_t dst = phys(inst.dst);
    if (!inst.is_signed && inst.size == 4)
      return put(BPF_ALU | BPF_MOV | BPF_X, dst, in_register(inst.a), 0, 0);
    load_operand(dst, inst.a);
    if (inst.size >= 8) return;
    if (!inst.is_signed)
      return put(BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, (1 << (inst.size * 8)) - 1);
    int32_t shift = 64 - inst.size * 8;
    put(BPF_ALU64 | BPF_LSH | BPF_K, dst, 0, 0, shift);
    put(BPF_ALU64 | BPF_ARSH | BPF_K, dst, 0, 0, shift);
  }

  void emit_store(const ir::Inst& inst) {
    Based to = based(inst.address);
    uint8_t size = size_code(inst.size);
    if (inst.b.is_imm() && fits(inst.b.imm))
      return put(static_cast<uint8_t>(BPF_ST | BPF_MEM | size), to.reg, 0, to.offset,
                 static_cast<int32_t>(inst.b.imm));
    put(static_cast<uint8_t>(BPF_STX | BPF_MEM | size), to.reg, in_register(inst.b), to.offset, 0);
  }

  void emit_address(const ir::Inst& inst) {
    Based from = based(inst.address);
    put_move(phys(inst.dst), from.reg);
    if (from.offset) put(BPF_ALU64 | BPF_ADD | BPF_K, phys(inst.dst), 0, 0, from.offset);
  }

  void emit_call(const ir::Inst& inst) {
    std::vector<PendingMove> moves;
    for (size_t i = 0; i < inst.args.size(); i++) {
      const ir::Operand& arg = inst.args[i];
      PendingMove move{.dst = static_cast<uint8_t>(i + 1), .is_imm = arg.is_imm(), .imm = arg.imm};
      if (!arg.is_imm()) move.src = phys(arg.reg);
      moves.push_back(move);
    }
    put_moves(std::move(moves));
    uint8_t kind = inst.imm >= ir::kKfunc ? BPF_PSEUDO_KFUNC_CALL : 0;
    put(BPF_JMP | BPF_CALL, 0, kind, 0, static_cast<int32_t>(inst.imm & UINT32_MAX));
    if (inst.dst != kNoReg) put_move(phys(inst.dst), kTemp);
  }

  void emit_exit(const ir::Exit& exit, int32_t next) {
    span_ = exit.span;
    switch (exit.kind) {
      case ir::ExitKind::Return:
        load_operand(kTemp, exit.a);
        return put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
      case ir::ExitKind::Jump: return emit_jump(exit.then, next);
      case ir::ExitKind::Branch: return emit_branch(exit, next);
    }
  }

  void emit_jump(int32_t target, int32_t next) {
    if (target == next) return;
    jumps_.push_back({out_.insns.size(), target});
    put(BPF_JMP | BPF_JA, 0, 0, 0, 0);
  }

  void emit_branch(const ir::Exit& exit, int32_t next) {
    ir::Operand a = exit.a, b = exit.b;
    ir::Compare compare = exit.compare;
    int32_t taken = exit.then, fallen = exit.otherwise;
    if (taken == next && compare != ir::Compare::Set) {  // fall through to the block that follows
      std::swap(taken, fallen);
      compare = inverted(compare);
    }
    if (a.is_imm() && !b.is_imm()) {
      std::swap(a, b);
      compare = mirrored(compare);
    }
    uint8_t left = in_register(a);
    uint8_t code = static_cast<uint8_t>(BPF_JMP | compare_code(compare));
    bool b_fits = b.is_imm() && fits(b.imm);
    uint8_t right = b_fits ? 0 : in_register(b);
    jumps_.push_back({out_.insns.size(), taken});
    if (b_fits)
      put(code | BPF_K, left, 0, 0, static_cast<int32_t>(b.imm));
    else
      put(code | BPF_X, left, right, 0, 0);
    emit_jump(fallen, next);
  }

  const ir::Program& program_;
  const Frame& frame_;
  Program& out_;
  const Allocation* allocation_ = nullptr;
  bool is_callback_ = false;
  size_t function_start_ = 0;
  std::map<int64_t, size_t> function_starts_;
  std::vector<Jump> jumps_;  // forward, not landed yet, oldest first
  std::vector<std::pair<uint32_t, int64_t>> callbacks_;
  Span span_;
};

// The deepest chain of frames, each rounded up as the kernel does.
uint32_t total_stack(const ir::Program& program, const Frame& frame) {
  uint32_t deepest = 0;
  for (size_t f = 0; f < program.functions.size(); f++) {
    uint64_t depth = 0;
    for (int32_t at = static_cast<int32_t>(f); at >= 0;
         at = program.functions[static_cast<size_t>(at)].parent)
      depth += std::max<uint64_t>(32, align_up(frame.stack_used[static_cast<size_t>(at)], 32));
    deepest = std::max(deepest, static_cast<uint32_t>(depth));
  }
  return deepest;
}

// The kernel refuses functions that nobody calls, such as the body of a loop that never runs.
// A function comes after the one that passes it on.
std::vector<bool> used_functions(const ir::Program& program) {
  std::vector<bool> used(program.functions.size());
  used[0] = true;
  for (size_t f = 0; f < program.functions.size(); f++) {
    if (!used[f]) continue;
    for (const ir::Block& block : program.functions[f].blocks)
      for (const ir::Inst& inst : block.insts)
        if (inst.op == ir::Op::Callback) used[static_cast<size_t>(inst.imm)] = true;
  }
  return used;
}

Result<Program> try_generate(ir::Program program, uint32_t budget, uint32_t& scratch_size) {
  Frame frame = place_slots(program, budget);
  scratch_size = program.scratch_size;
  std::vector<Allocation> allocations;
  for (size_t f = 0; f < program.functions.size(); f++)
    allocations.push_back(allocate(program, f, frame));
  if (total_stack(program, frame) > kMaxStack)
    return Error{"this probe needs more than 512 bytes of stack"};
  Program out;
  out.name = program.name;
  Emitter emitter(program, frame, out);
  std::vector<bool> used = used_functions(program);
  for (size_t f = 0; f < program.functions.size(); f++)
    if (used[f]) emitter.emit_function(program.functions[f], allocations[f]);
  emitter.resolve_callbacks();
  return out;
}

}  // namespace

// The verifier looks at a loop anew for every set of stack bytes that may have been written before
// it, which in a large program are too many. Scratch memory it does not follow.
static bool has_crowded_loops(const ir::Program& program) {
  constexpr size_t kManyBlocks = 64;
  return program.functions.size() > 1 && program.functions[0].blocks.size() > kManyBlocks;
}

static Result<Program> generate_any(ir::Program program, uint32_t& scratch_size) {
  if (has_crowded_loops(program)) return try_generate(std::move(program), 0, scratch_size);
  for (uint32_t budget : {320u, 160u, 64u}) {
    Result<Program> out = try_generate(program, budget, scratch_size);
    if (out) return out;
  }
  return try_generate(std::move(program), 0, scratch_size);
}

Result<Program> generate(ir::Program program, uint32_t& scratch_size) {
  Result<Program> code = generate_any(std::move(program), scratch_size);
  if (!code) return code;
  if (Status good = check_limits(*code); !good) return good.error();
  return code;
}

}  // namespace flowtap::codegen
