// Register allocation: virtual registers -> r1..r9; r0 stays free for the emitter.
// Way in: allocate(). Linear scan over live intervals. A call destroys r0..r5, so an interval
// that spans a call may only take r6..r9. When none is free the interval that ends last is
// spilled: its uses read it from the stack through short-lived registers, and the scan starts
// over. Values that cost one instruction to make (constants, addresses, maps) are made again
// instead of being stored.
// After: every virtual register has a physical one.

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "codegen/codegen.h"

namespace flowtap::codegen {

namespace {

using ir::kNoReg;
using ir::Reg;

// Positions count instructions over the whole function; a definition happens at its own
// position, a use just before it.
struct Interval {
  Reg reg = kNoReg;
  int32_t start = INT32_MAX;
  int32_t end = -1;
  bool spans_call = false;
  bool is_short = false;  // made by spilling: must not be spilled again
  int8_t hint = 0;        // the register a call takes it in
  Reg copy_of = kNoReg;   // made by a move: sharing a register saves it

  bool is_live() const { return end >= 0; }
};

class Allocator {
 public:
  Allocator(ir::Program& program, size_t function, Frame& frame)
      : program_(program),
        number_(function),
        function_(program.functions[function]),
        frame_(frame) {}

  Allocation run() {
    first_short_ = function_.registers;
    while (true) {
      find_intervals();
      Reg victim = scan();
      if (victim == kNoReg) return {std::move(physical_)};
      spill(victim);
    }
  }

 private:
  // --- liveness ---------------------------------------------------------------------------
  // Jumps only go forward, so one walk from the last block to the first settles every set. Few
  // registers live beyond their block: sets are lists, and flags tell what is in the one at hand.
  void find_live_in() {
    size_t n = function_.blocks.size();
    live_in_.assign(n, {});
    is_live_.assign(static_cast<size_t>(function_.registers), false);
    std::vector<Reg> seen;
    auto add = [&](Reg reg) {
      if (!is_live_[static_cast<size_t>(reg)]) seen.push_back(reg);
      is_live_[static_cast<size_t>(reg)] = true;
    };
    for (size_t b = n; b-- > 0;) {
      const ir::Block& block = function_.blocks[b];
      for_each_live_out(block.exit, add);
      ir::for_each_exit_use(block.exit, add);
      for (size_t i = block.insts.size(); i-- > 0;) {
        const ir::Inst& inst = block.insts[i];
        if (inst.dst != kNoReg) is_live_[static_cast<size_t>(inst.dst)] = false;
        ir::for_each_use(inst, add);
      }
      for (Reg reg : seen) {
        if (is_live_[static_cast<size_t>(reg)]) live_in_[b].push_back(reg);
        is_live_[static_cast<size_t>(reg)] = false;
      }
      seen.clear();
    }
  }

  template <typename Visit>
  void for_each_live_out(const ir::Exit& exit, const Visit& visit) {
    auto visit_all = [&](int32_t target) {
      for (Reg reg : live_in_[static_cast<size_t>(target)]) visit(reg);
    };
    if (exit.kind != ir::ExitKind::Return) visit_all(exit.then);
    if (exit.kind == ir::ExitKind::Branch) visit_all(exit.otherwise);
  }

  Interval& interval(Reg reg) { return intervals_[static_cast<size_t>(reg)]; }

  void extend(Reg reg, int32_t position) {
    Interval& it = interval(reg);
    it.start = std::min(it.start, position);
    it.end = std::max(it.end, position);
  }

  void find_intervals() {
    find_live_in();
    intervals_.assign(static_cast<size_t>(function_.registers), {});
    for (Reg r = 0; r < function_.registers; r++) {
      interval(r).reg = r;
      interval(r).is_short = r >= first_short_;
    }
    calls_.clear();
    int32_t position = 0;
    for (size_t b = 0; b < function_.blocks.size(); b++) visit_block(b, position);
    for (Interval& it : intervals_) {
      auto next = std::upper_bound(calls_.begin(), calls_.end(), it.start);
      it.spans_call = next != calls_.end() && *next < it.end;
    }
  }

  void visit_block(size_t b, int32_t& position) {
    const ir::Block& block = function_.blocks[b];
    for (Reg reg : live_in_[b]) extend(reg, position);
    for (const ir::Inst& inst : block.insts) {
      // Parameters all arrive at once, so their registers must differ from each other.
      int32_t at = inst.op == ir::Op::Param ? 0 : position;
      ir::for_each_use(inst, [&](Reg reg) { extend(reg, position); });
      if (inst.dst != kNoReg) extend(inst.dst, at);
      if (inst.op == ir::Op::Param) extend(inst.dst, position + 1);
      if (inst.op == ir::Op::Call) note_call(inst, position);
      if (inst.op == ir::Op::Move && !inst.a.is_imm()) interval(inst.dst).copy_of = inst.a.reg;
      position += 2;
    }
    ir::for_each_exit_use(block.exit, [&](Reg reg) { extend(reg, position); });
    // What a successor needs is alive until this block ends.
    for_each_live_out(block.exit, [&](Reg reg) { extend(reg, position + 1); });
    position += 2;
  }

  void note_call(const ir::Inst& inst, int32_t position) {
    calls_.push_back(position);
    for (size_t i = 0; i < inst.args.size(); i++)
      if (!inst.args[i].is_imm()) interval(inst.args[i].reg).hint = static_cast<int8_t>(i + 1);
  }

  // --- the scan ---------------------------------------------------------------------------
  // Returns the register to spill, or kNoReg when everything found a place.
  Reg scan() {
    physical_.assign(static_cast<size_t>(function_.registers), 1);
    std::vector<Interval*> order;
    for (Interval& it : intervals_)
      if (it.is_live()) order.push_back(&it);
    std::stable_sort(order.begin(), order.end(),
                     [](Interval* x, Interval* y) { return x->start < y->start; });
    std::vector<Interval*> active;
    for (Interval* it : order) {
      std::erase_if(active, [&](Interval* other) { return is_over(*other, it->start); });
      int8_t reg = choose(*it, active);
      if (reg == 0) return choose_victim(*it, active);
      physical_[static_cast<size_t>(it->reg)] = reg;
      active.push_back(it);
    }
    return kNoReg;
  }

  // A value may take the register of one that is read for the last time as it is made, but not
  // the register of a result that nobody reads and that is written at the same moment.
  static bool is_over(const Interval& it, int32_t position) {
    return it.end < position || (it.end == position && it.start != it.end);
  }

  int8_t choose(const Interval& it, const std::vector<Interval*>& active) {
    uint32_t taken = 0;
    for (const Interval* other : active) taken |= 1u << physical_[static_cast<size_t>(other->reg)];
    auto is_free = [&](int r) { return (taken & (1u << r)) == 0; };
    if (it.copy_of != kNoReg) {
      int8_t same = physical_[static_cast<size_t>(it.copy_of)];
      if (is_free(same) && (!it.spans_call || same >= 6)) return same;
    }
    if (!it.spans_call) {
      if (it.hint && is_free(it.hint)) return it.hint;
      for (int8_t r = 1; r <= 5; r++)
        if (is_free(r)) return r;
    }
    for (int8_t r = 6; r <= 9; r++)
      if (is_free(r)) return r;
    return 0;
  }

  // Of the intervals whose register would help, the one that ends last; cheap to remake first.
  Reg choose_victim(const Interval& it, const std::vector<Interval*>& active) {
    const Interval* best = it.is_short ? nullptr : &it;
    for (const Interval* other : active) {
      bool helps = !it.spans_call || physical_[static_cast<size_t>(other->reg)] >= 6;
      if (!helps || other->is_short) continue;
      if (!best || weight(*other) > weight(*best)) best = other;
    }
    CHECK(best != nullptr);
    return best->reg;
  }

  int64_t weight(const Interval& it) const {
    return it.end + (remade_by(it.reg) ? 1'000'000'000LL : 0);
  }

  // --- spilling ---------------------------------------------------------------------------
  const ir::Inst* remade_by(Reg reg) const {
    const ir::Inst* found = nullptr;
    for (const ir::Block& block : function_.blocks)
      for (const ir::Inst& inst : block.insts) {
        if (inst.dst != reg) continue;
        bool is_cheap = inst.op == ir::Op::Const || inst.op == ir::Op::MapPointer ||
                        inst.op == ir::Op::Callback || inst.op == ir::Op::MapValue ||
                        (inst.op == ir::Op::AddressOf && inst.address.base == kNoReg);
        if (found || !is_cheap) return nullptr;
        found = &inst;
      }
    return found;
  }

  void spill(Reg victim) {
    const ir::Inst* source = remade_by(victim);
    ir::Inst remake = source ? *source : ir::Inst{};
    int32_t slot = source ? -1 : new_spill_slot();
    for (ir::Block& block : function_.blocks) {
      std::vector<ir::Inst> out;
      for (ir::Inst& inst : block.insts) {
        bool reads = false;
        ir::for_each_use(inst, [&](Reg reg) { reads |= reg == victim; });
        if (source && inst.dst == victim) continue;  // the one definition is no longer needed
        if (reads) replace_uses(inst, victim, reload(out, remake, slot, inst.span));
        bool writes = inst.dst == victim;
        if (writes) inst.dst = new_short();
        Reg written = inst.dst;
        Span span = inst.span;
        out.push_back(std::move(inst));
        if (writes)
          out.push_back({.op = ir::Op::Store,
                         .b = ir::reg_operand(written),
                         .address = {.slot = slot},
                         .span = span});
      }
      bool exit_reads = false;
      ir::for_each_exit_use(block.exit, [&](Reg reg) { exit_reads |= reg == victim; });
      if (exit_reads) {
        Reg fresh = reload(out, remake, slot, block.exit.span);
        ir::for_each_exit_use(block.exit, [&](Reg& reg) {
          if (reg == victim) reg = fresh;
        });
      }
      block.insts = std::move(out);
    }
  }

  void replace_uses(ir::Inst& inst, Reg victim, Reg fresh) {
    ir::for_each_use(inst, [&](Reg& reg) {
      if (reg == victim) reg = fresh;
    });
  }

  Reg reload(std::vector<ir::Inst>& out, const ir::Inst& remake, int32_t slot, Span span) {
    Reg fresh = new_short();
    ir::Inst inst = slot >= 0 ? ir::Inst{.op = ir::Op::Load, .address = {.slot = slot}} : remake;
    inst.dst = fresh;
    inst.span = span;
    out.push_back(std::move(inst));
    return fresh;
  }

  Reg new_short() { return function_.registers++; }

  int32_t new_spill_slot() {
    uint32_t& used = frame_.stack_used[number_];
    used = static_cast<uint32_t>(align_up(used + 8, 8));
    program_.slots.push_back(
        {.size = 8, .place = ir::Place::Stack, .function = static_cast<int32_t>(number_)});
    frame_.homes.push_back({.is_stack = true, .offset = -static_cast<int32_t>(used)});
    return static_cast<int32_t>(program_.slots.size() - 1);
  }

  ir::Program& program_;
  size_t number_;
  ir::Function& function_;
  Frame& frame_;
  Reg first_short_ = 0;
  std::vector<std::vector<Reg>> live_in_;  // of each block
  std::vector<bool> is_live_;
  std::vector<Interval> intervals_;
  std::vector<int32_t> calls_;
  std::vector<int8_t> physical_;
};

}  // namespace

Allocation allocate(ir::Program& program, size_t function, Frame& frame) {
  return Allocator(program, function, frame).run();
}

}  // namespace flowtap::codegen
