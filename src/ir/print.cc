// The IR as text, one instruction a line, for `-d ir` and golden tests; and its checker.

#include <fmt/format.h>

#include "bpf/helpers.h"
#include "ir/ir.h"

namespace flowtap::ir {

static std::string text(const Operand& operand) {
  return operand.is_imm() ? fmt::format("{}", operand.imm) : fmt::format("v{}", operand.reg);
}

static std::string text(const Address& address) {
  std::string base = address.base != kNoReg ? fmt::format("v{}", address.base)
                                            : fmt::format("slot{}", address.slot);
  return address.offset ? fmt::format("{}{:+}", base, address.offset) : base;
}

static std::string call_text(const Inst& inst) {
  std::vector<std::string> args;
  for (const Operand& arg : inst.args) args.push_back(text(arg));
  return fmt::format("{}({})", bpf::helper_name(static_cast<int32_t>(inst.imm)),
                     fmt::join(args, ", "));
}

static std::string right_side(const Inst& inst) {
  switch (inst.op) {
    case Op::Const: return fmt::format("{}", inst.imm);
    case Op::Move: return text(inst.a);
    case Op::Alu: return fmt::format("{} {}, {}", alu_name(inst.alu), text(inst.a), text(inst.b));
    case Op::Negate: return "neg " + text(inst.a);
    case Op::ByteSwap: return fmt::format("bswap{} {}", inst.size * 8, text(inst.a));
    case Op::Extend:
      return fmt::format("{}{} {}", inst.is_signed ? "sext" : "zext", inst.size * 8, text(inst.a));
    case Op::Load: return fmt::format("load{} [{}]", inst.size * 8, text(inst.address));
    case Op::Store:
      return fmt::format("store{} [{}], {}", inst.size * 8, text(inst.address), text(inst.b));
    case Op::AtomicAdd:
      return fmt::format("atomic_add{} [{}], {}", inst.size * 8, text(inst.address), text(inst.b));
    case Op::AddressOf: return fmt::format("&[{}]", text(inst.address));
    case Op::MapPointer: return fmt::format("map {}", inst.imm);
    case Op::MapValue: return fmt::format("value of map {} {:+}", inst.imm, inst.address.offset);
    case Op::Callback: return fmt::format("function {}", inst.imm);
    case Op::Param: return fmt::format("param {}", inst.imm);
    case Op::Call: return "call " + call_text(inst);
  }
  return "?";
}

static std::string text(const Exit& exit) {
  switch (exit.kind) {
    case ExitKind::Jump: return fmt::format("jump b{}", exit.then);
    case ExitKind::Branch:
      return fmt::format("if {} {} {} then b{} else b{}", text(exit.a), compare_name(exit.compare),
                         text(exit.b), exit.then, exit.otherwise);
    case ExitKind::Return: return "return " + text(exit.a);
  }
  return "?";
}

static void print_function(std::string& out, const Function& function) {
  out += fmt::format("function {}\n", function.name);
  for (size_t b = 0; b < function.blocks.size(); b++) {
    out += fmt::format("b{}:\n", b);
    for (const Inst& inst : function.blocks[b].insts) {
      if (inst.dst != kNoReg)
        out += fmt::format("  v{} = {}\n", inst.dst, right_side(inst));
      else
        out += fmt::format("  {}\n", right_side(inst));
    }
    out += fmt::format("  {}\n", text(function.blocks[b].exit));
  }
}

std::string print(const Program& program) {
  std::string out = fmt::format("program {}\n", program.name);
  for (size_t s = 0; s < program.slots.size(); s++) {
    const Slot& slot = program.slots[s];
    const char* place = slot.place == Place::Scratch ? " scratch"
                        : slot.place == Place::Stack ? " stack"
                                                     : "";
    out += fmt::format("slot{}: {} bytes{}\n", s, slot.size, place);
  }
  for (const Function& function : program.functions) print_function(out, function);
  return out;
}

static std::string check_inst(const Program& program, const Function& function, const Inst& inst) {
  std::string wrong;
  auto in_range = [&](Reg reg) { return reg >= 0 && reg < function.registers; };
  for_each_use(inst, [&](Reg reg) {
    if (!in_range(reg)) wrong = "reads a register that does not exist";
  });
  if (inst.dst != kNoReg && !in_range(inst.dst)) wrong = "writes a register that does not exist";
  bool uses_memory = inst.op == Op::Load || inst.op == Op::Store || inst.op == Op::AtomicAdd ||
                     inst.op == Op::AddressOf;
  if (uses_memory && inst.address.base == kNoReg) {
    if (inst.address.slot < 0 || inst.address.slot >= static_cast<int32_t>(program.slots.size()))
      return "uses no slot";
    uint32_t size = program.slots[static_cast<size_t>(inst.address.slot)].size;
    uint32_t reach = inst.op == Op::AddressOf ? 0 : inst.size;
    if (inst.address.offset < 0 || static_cast<uint32_t>(inst.address.offset) + reach > size)
      wrong = "leaves its slot";
  }
  if (inst.args.size() > 5) wrong = "passes more than five arguments";
  return wrong;
}

std::string check(const Program& program) {
  for (const Function& function : program.functions) {
    int32_t blocks = static_cast<int32_t>(function.blocks.size());
    for (int32_t b = 0; b < blocks; b++) {
      const Block& block = function.blocks[static_cast<size_t>(b)];
      for (const Inst& inst : block.insts) {
        std::string wrong = check_inst(program, function, inst);
        if (!wrong.empty())
          return fmt::format("{} b{}: '{}' {}", function.name, b, right_side(inst), wrong);
      }
      bool jumps = block.exit.kind != ExitKind::Return;
      bool branches = block.exit.kind == ExitKind::Branch;
      auto is_forward = [&](int32_t target) { return target > b && target < blocks; };
      if ((jumps && !is_forward(block.exit.then)) ||
          (branches && !is_forward(block.exit.otherwise)))
        return fmt::format("{} b{}: leaves for a block that is not ahead of it", function.name, b);
    }
  }
  return {};
}

}  // namespace flowtap::ir
