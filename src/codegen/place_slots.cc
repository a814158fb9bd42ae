// Slots -> stack or scratch memory.
// Way in: place_slots(). A BPF frame has 512 bytes, shared by a program and its loop callbacks,
// so small slots get the stack and large ones a place in an array map that has one frame per
// CPU. A function that needs scratch memory computes its base once, at its start:
//
//     cpu = get_smp_processor_id(); if (cpu >= cpus) return 0; base = &scratch[0] + cpu * frame
//
// After: no instruction names a slot that is not on the stack.

#include <linux/bpf.h>

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "codegen/codegen.h"

namespace flowtap::codegen {

namespace {

// Slots larger than this do not deserve the stack even when there is room.
constexpr uint32_t kMaxStackSlot = 128;

class Placer {
 public:
  Placer(ir::Program& program, uint32_t budget) : program_(program), budget_(budget) {}

  Frame run() {
    frame_.stack_used.assign(program_.functions.size(), 0);
    frame_.homes.resize(program_.slots.size());
    choose_homes();
    program_.scratch_size = static_cast<uint32_t>(align_up(scratch_used_, 8));
    for (ir::Function& function : program_.functions) {
      rewrite(function);
      shorten(function);
    }
    return std::move(frame_);
  }

 private:
  // Slots that must be on the stack come first, then the small ones.
  void choose_homes() {
    std::vector<size_t> order(program_.slots.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return rank(x) < rank(y); });
    for (size_t s : order) {
      const ir::Slot& slot = program_.slots[s];
      uint32_t& used = frame_.stack_used[static_cast<size_t>(slot.function)];
      uint32_t after = static_cast<uint32_t>(align_up(used + slot.size, 8));
      bool fits = slot.place == ir::Place::Auto && slot.size <= kMaxStackSlot && after <= budget_;
      if (slot.place == ir::Place::Stack || fits) {
        used = after;
        frame_.homes[s] = {.is_stack = true, .offset = -static_cast<int32_t>(after)};
      } else {
        frame_.homes[s] = {.is_stack = false, .offset = static_cast<int32_t>(scratch_used_)};
        scratch_used_ = align_up(scratch_used_ + slot.size, 8);
      }
    }
  }

  uint32_t rank(size_t s) const {
    return program_.slots[s].place == ir::Place::Stack ? 0 : program_.slots[s].size;
  }

  bool needs_scratch(const ir::Function& function) const {
    for (const ir::Block& block : function.blocks)
      for (const ir::Inst& inst : block.insts)
        if (is_scratch(inst.address)) return true;
    return false;
  }

  bool is_scratch(const ir::Address& address) const {
    return address.base == ir::kNoReg && address.slot >= 0 &&
           !frame_.homes[static_cast<size_t>(address.slot)].is_stack;
  }

  void rewrite(ir::Function& function) {
    if (!needs_scratch(function)) return;
    ir::Reg base = function.registers++;
    for (ir::Block& block : function.blocks)
      for (ir::Inst& inst : block.insts)
        if (is_scratch(inst.address)) {
          inst.address.offset += frame_.homes[static_cast<size_t>(inst.address.slot)].offset;
          inst.address.base = base;
          inst.address.slot = -1;
        }
    insert_base(function, base);
  }

  // An instruction reaches 32 KiB from its base; what lies further away gets a base of its own.
  static void shorten(ir::Function& function) {
    auto is_far = [](const ir::Address& address) {
      return address.base != ir::kNoReg &&
             (address.offset < INT16_MIN || address.offset > INT16_MAX);
    };
    for (ir::Block& block : function.blocks) {
      bool has_far = std::any_of(block.insts.begin(), block.insts.end(),
                                 [&](const ir::Inst& inst) { return is_far(inst.address); });
      if (!has_far) continue;
      std::vector<ir::Inst> insts;
      for (ir::Inst& inst : block.insts) {
        if (is_far(inst.address)) {
          ir::Reg near = function.registers++;
          insts.push_back({.op = ir::Op::Alu,
                           .alu = ir::Alu::Add,
                           .dst = near,
                           .a = ir::reg_operand(inst.address.base),
                           .b = ir::imm_operand(inst.address.offset),
                           .span = inst.span});
          inst.address = {.base = near};
        }
        insts.push_back(std::move(inst));
      }
      block.insts = std::move(insts);
    }
  }

  // Two blocks in front of the function: compute the CPU number, then the base.
  void insert_base(ir::Function& function, ir::Reg base) {
    ir::Reg cpu = function.registers++;
    ir::Block first, bail, second;
    ir::Block& entry = function.blocks[0];
    while (!entry.insts.empty() && entry.insts.front().op == ir::Op::Param) {
      first.insts.push_back(entry.insts.front());
      entry.insts.erase(entry.insts.begin());
    }
    first.insts.push_back({.op = ir::Op::Call, .dst = cpu, .imm = BPF_FUNC_get_smp_processor_id});
    first.exit = {.kind = ir::ExitKind::Branch,
                  .compare = ir::Compare::Ge,
                  .a = ir::reg_operand(cpu),
                  .b = ir::imm_operand(program_.cpus),
                  .then = 1,
                  .otherwise = 2};
    bail.exit = {.kind = ir::ExitKind::Return, .a = ir::imm_operand(0)};
    ir::Reg offset = function.registers++;
    ir::Reg start = function.registers++;
    second.insts.push_back({.op = ir::Op::Alu,
                            .alu = ir::Alu::Mul,
                            .dst = offset,
                            .a = ir::reg_operand(cpu),
                            .b = ir::imm_operand(program_.scratch_size)});
    second.insts.push_back({.op = ir::Op::MapValue, .dst = start, .imm = program_.scratch_map});
    second.insts.push_back({.op = ir::Op::Alu,
                            .alu = ir::Alu::Add,
                            .dst = base,
                            .a = ir::reg_operand(start),
                            .b = ir::reg_operand(offset)});
    second.exit = {.kind = ir::ExitKind::Jump, .then = 3};
    for (ir::Block& block : function.blocks) {
      if (block.exit.then >= 0) block.exit.then += 3;
      if (block.exit.otherwise >= 0) block.exit.otherwise += 3;
    }
    std::vector<ir::Block> blocks;
    blocks.push_back(std::move(first));
    blocks.push_back(std::move(bail));
    blocks.push_back(std::move(second));
    std::move(function.blocks.begin(), function.blocks.end(), std::back_inserter(blocks));
    function.blocks = std::move(blocks);
  }

  ir::Program& program_;
  uint32_t budget_;
  Frame frame_;
  uint64_t scratch_used_ = 0;
};

}  // namespace

Frame place_slots(ir::Program& program, uint32_t budget) { return Placer(program, budget).run(); }

}  // namespace flowtap::codegen
