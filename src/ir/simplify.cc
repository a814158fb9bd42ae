// Small improvements on the IR, repeated until nothing changes.
// Way in: simplify(). A register that is written once is as good as a name for its value, so
// constants and copies held in such registers are forwarded into their uses; then comparisons
// of constants become jumps, and blocks and results that nobody needs go away.

#include <algorithm>

#include "ir/ir.h"

namespace flowtap::ir {

namespace {

// What is known of a register: how often it is written and by what.
struct Definition {
  int writes = 0;
  const Inst* inst = nullptr;
};

bool fits_immediate(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

class Simplifier {
 public:
  explicit Simplifier(Function& function) : function_(function) {}

  bool run() {
    changed_ = false;
    find_definitions();
    for (Block& block : function_.blocks) {
      for (Inst& inst : block.insts) simplify_inst(inst);
      simplify_exit(block.exit);
    }
    drop_unreachable();
    merge_chains();
    drop_unused();
    return changed_;
  }

 private:
  void find_definitions() {
    definitions_.assign(static_cast<size_t>(function_.registers), {});
    copies_.clear();
    size_t total = 0;
    for (const Block& block : function_.blocks) total += block.insts.size();
    copies_.reserve(total);  // pointers into it must stay good
    for (const Block& block : function_.blocks)
      for (const Inst& inst : block.insts) {
        if (inst.dst == kNoReg) continue;
        Definition& definition = definitions_[static_cast<size_t>(inst.dst)];
        definition.writes++;
        if (inst.op == Op::Const || inst.op == Op::Move)
          definition.inst = &copies_.emplace_back(inst);
      }
  }

  const Inst* single(Reg reg) const {
    const Definition& definition = definitions_[static_cast<size_t>(reg)];
    return definition.writes == 1 ? definition.inst : nullptr;
  }

  // Replaces a register by the constant or the once-written register it stands for.
  void forward(Operand& operand, bool takes_immediate) {
    if (operand.is_imm()) return;
    const Inst* inst = single(operand.reg);
    if (!inst) return;
    if (inst->op == Op::Const) {
      if (takes_immediate && fits_immediate(inst->imm)) replace(operand, imm_operand(inst->imm));
    } else if (inst->a.is_imm()) {
      if (takes_immediate && fits_immediate(inst->a.imm)) replace(operand, inst->a);
    } else if (definitions_[static_cast<size_t>(inst->a.reg)].writes == 1) {
      replace(operand, inst->a);
    }
  }

  void replace(Operand& operand, Operand with) {
    operand = with;
    changed_ = true;
  }

  void become_const(Inst& inst, int64_t value) {
    Inst constant{.op = Op::Const, .dst = inst.dst, .imm = value, .span = inst.span};
    inst = constant;
    changed_ = true;
  }

  void become_move(Inst& inst, Operand from) {
    Inst move{.op = Op::Move, .dst = inst.dst, .a = from, .span = inst.span};
    inst = move;
    changed_ = true;
  }

  void simplify_inst(Inst& inst) {
    bool is_alu = inst.op == Op::Alu;
    forward(inst.a,
            is_alu || inst.op == Op::Move || inst.op == Op::Extend || inst.op == Op::Negate);
    bool commutes = is_alu && (inst.alu == Alu::Add || inst.alu == Alu::Mul ||
                               inst.alu == Alu::And || inst.alu == Alu::Or || inst.alu == Alu::Xor);
    if (commutes && inst.a.is_imm() && !inst.b.is_imm()) std::swap(inst.a, inst.b);
    forward(inst.b, is_alu || inst.op == Op::Store);
    for (Operand& arg : inst.args) forward(arg, true);
    if (inst.address.base != kNoReg) {
      Operand base = reg_operand(inst.address.base);
      forward(base, false);
      inst.address.base = base.reg;
    }
    fold_inst(inst);
  }

  void fold_inst(Inst& inst) {
    if (inst.op == Op::Move && inst.a.is_imm()) return become_const(inst, inst.a.imm);
    if (inst.op == Op::Negate && inst.a.is_imm())
      return become_const(inst, fold(Alu::Sub, 0, inst.a.imm));
    if (inst.op == Op::Extend && inst.a.is_imm()) return become_const(inst, extend(inst));
    if (inst.op == Op::Alu && inst.a.is_imm() && inst.b.is_imm())
      return become_const(inst, fold(inst.alu, inst.a.imm, inst.b.imm));
    if (inst.op == Op::Alu && inst.b.is_imm()) fold_identity(inst);
  }

  static int64_t extend(const Inst& inst) {
    int shift = 64 - inst.size * 8;
    if (shift == 0) return inst.a.imm;
    int64_t high = fold(Alu::Shl, inst.a.imm, shift);
    return fold(inst.is_signed ? Alu::Sar : Alu::Shr, high, shift);
  }

  void fold_identity(Inst& inst) {
    bool zero_is_neutral = inst.alu == Alu::Add || inst.alu == Alu::Sub || inst.alu == Alu::Or ||
                           inst.alu == Alu::Xor || inst.alu == Alu::Shl || inst.alu == Alu::Shr ||
                           inst.alu == Alu::Sar;
    bool one_is_neutral = inst.alu == Alu::Mul || inst.alu == Alu::Div;
    if ((zero_is_neutral && inst.b.imm == 0) || (one_is_neutral && inst.b.imm == 1))
      return become_move(inst, inst.a);
    bool is_power = inst.b.imm > 1 && (inst.b.imm & (inst.b.imm - 1)) == 0;
    if (!is_power) return;
    int shift = __builtin_ctzll(static_cast<uint64_t>(inst.b.imm));
    if (inst.alu == Alu::Mul)
      replace_alu(inst, Alu::Shl, shift);
    else if (inst.alu == Alu::Div)
      replace_alu(inst, Alu::Shr, shift);
    else if (inst.alu == Alu::Mod)
      replace_alu(inst, Alu::And, inst.b.imm - 1);
  }

  void replace_alu(Inst& inst, Alu alu, int64_t imm) {
    inst.alu = alu;
    inst.b = imm_operand(imm);
    changed_ = true;
  }

  void simplify_exit(Exit& exit) {
    forward(exit.a, true);
    if (exit.kind != ExitKind::Branch) return;
    forward(exit.b, true);
    bool is_constant = exit.a.is_imm() && exit.b.is_imm();
    if (!is_constant && exit.then != exit.otherwise) return;
    int32_t target =
        is_constant && !fold(exit.compare, exit.a.imm, exit.b.imm) ? exit.otherwise : exit.then;
    exit = Exit{.kind = ExitKind::Jump, .then = target, .span = exit.span};
    changed_ = true;
  }

  // Jumps only go forward, so one pass in order finds every reachable block.
  void drop_unreachable() {
    size_t n = function_.blocks.size();
    std::vector<int32_t> new_number(n, -1);
    std::vector<bool> reached(n, false);
    reached[0] = true;
    std::vector<Block> kept;
    for (size_t b = 0; b < n; b++) {
      if (!reached[b]) continue;
      Block& block = function_.blocks[b];
      if (block.exit.kind != ExitKind::Return) reached[static_cast<size_t>(block.exit.then)] = true;
      if (block.exit.kind == ExitKind::Branch)
        reached[static_cast<size_t>(block.exit.otherwise)] = true;
      new_number[b] = static_cast<int32_t>(kept.size());
      kept.push_back(std::move(block));
    }
    changed_ |= kept.size() != n;
    for (Block& block : kept) {
      if (block.exit.kind != ExitKind::Return)
        block.exit.then = new_number[static_cast<size_t>(block.exit.then)];
      if (block.exit.kind == ExitKind::Branch)
        block.exit.otherwise = new_number[static_cast<size_t>(block.exit.otherwise)];
    }
    function_.blocks = std::move(kept);
  }

  // A block whose only predecessor jumps to it becomes part of that predecessor.
  void merge_chains() {
    std::vector<int> predecessors(function_.blocks.size(), 0);
    for (const Block& block : function_.blocks) {
      if (block.exit.kind != ExitKind::Return) predecessors[static_cast<size_t>(block.exit.then)]++;
      if (block.exit.kind == ExitKind::Branch)
        predecessors[static_cast<size_t>(block.exit.otherwise)]++;
    }
    for (Block& block : function_.blocks) {
      while (block.exit.kind == ExitKind::Jump &&
             predecessors[static_cast<size_t>(block.exit.then)] == 1) {
        Block& next = function_.blocks[static_cast<size_t>(block.exit.then)];
        block.insts.insert(block.insts.end(), std::make_move_iterator(next.insts.begin()),
                           std::make_move_iterator(next.insts.end()));
        next.insts.clear();
        block.exit = next.exit;
        next.exit = Exit{.kind = ExitKind::Return, .a = imm_operand(0)};
        changed_ = true;
      }
    }
    drop_unreachable();
  }

  void drop_unused() {
    std::vector<int> reads(static_cast<size_t>(function_.registers), 0);
    auto count = [&](Reg reg) { reads[static_cast<size_t>(reg)]++; };
    for (const Block& block : function_.blocks) {
      for (const Inst& inst : block.insts) for_each_use(inst, count);
      for_each_exit_use(block.exit, count);
    }
    auto is_unused = [&](const Inst& inst) {
      return !has_effect(inst) && inst.dst != kNoReg && reads[static_cast<size_t>(inst.dst)] == 0;
    };
    for (Block& block : function_.blocks) {
      changed_ |= std::erase_if(block.insts, is_unused) > 0;
      for (Inst& inst : block.insts)
        if (inst.op == Op::Call && inst.dst != kNoReg && reads[static_cast<size_t>(inst.dst)] == 0)
          inst.dst = kNoReg;
    }
  }

  Function& function_;
  std::vector<Definition> definitions_;
  std::vector<Inst> copies_;
  bool changed_ = false;
};

// Callbacks whose only use was in code that is gone; the verifier refuses functions that nothing
// refers to. A function comes after the one that uses it, so one pass in order finds them all.
void drop_unused_functions(Program& program) {
  if (program.functions.empty()) return;
  std::vector<bool> is_used(program.functions.size(), false);
  is_used[0] = true;
  for (size_t f = 0; f < program.functions.size(); f++) {
    if (!is_used[f]) continue;
    for (const Block& block : program.functions[f].blocks)
      for (const Inst& inst : block.insts)
        if (inst.op == Op::Callback) is_used[static_cast<size_t>(inst.imm)] = true;
  }
  std::vector<int32_t> new_number;
  new_number.reserve(is_used.size());
  int32_t next = 0;
  for (bool used : is_used) new_number.push_back(used ? next++ : -1);
  std::vector<Function> kept;
  for (size_t f = 0; f < program.functions.size(); f++) {
    if (!is_used[f]) continue;
    Function& function = kept.emplace_back(std::move(program.functions[f]));
    if (function.parent >= 0) function.parent = new_number[static_cast<size_t>(function.parent)];
    for (Block& block : function.blocks)
      for (Inst& inst : block.insts)
        if (inst.op == Op::Callback) inst.imm = new_number[static_cast<size_t>(inst.imm)];
  }
  program.functions = std::move(kept);
  for (Slot& slot : program.slots) {
    int32_t owner = new_number[static_cast<size_t>(slot.function)];
    if (owner < 0) slot.size = 0;
    slot.function = std::max(owner, 0);
  }
}

}  // namespace

void simplify(Program& program) {
  for (Function& function : program.functions) {
    Simplifier simplifier(function);
    while (simplifier.run()) {
    }
  }
  drop_unused_functions(program);
}

}  // namespace flowtap::ir
