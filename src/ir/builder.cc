// Building IR; see builder.h.

#include "ir/builder.h"

#include "base/check.h"

namespace flowtap::ir {

Inst& Builder::emit(Inst inst) {
  inst.span = span_;
  if (!is_open_) start(new_block());  // code after a return: unreachable, removed later
  block().insts.push_back(std::move(inst));
  return block().insts.back();
}

Reg Builder::new_reg() { return registers_++; }

Reg Builder::constant(int64_t value) {
  Reg dst = new_reg();
  emit({.op = Op::Const, .dst = dst, .imm = value});
  return dst;
}

Reg Builder::move(Operand from) {
  Reg dst = new_reg();
  assign(dst, from);
  return dst;
}

void Builder::assign(Reg to, Operand from) {
  if (from.is_imm())
    emit({.op = Op::Const, .dst = to, .imm = from.imm});
  else
    emit({.op = Op::Move, .dst = to, .a = from});
}

Reg Builder::in_reg(Operand operand) {
  return operand.is_imm() ? constant(operand.imm) : operand.reg;
}

// Immediates of instructions have 32 bits; wider ones go through a register.
static bool is_wide(const Operand& operand) {
  return operand.is_imm() && (operand.imm > INT32_MAX || operand.imm < INT32_MIN);
}

Reg Builder::alu(Alu alu, Operand a, Operand b) {
  if (is_wide(b)) b = reg_operand(constant(b.imm));
  Reg dst = new_reg();
  emit({.op = Op::Alu, .alu = alu, .dst = dst, .a = a, .b = b});
  return dst;
}

Reg Builder::negate(Operand a) {
  Reg dst = new_reg();
  emit({.op = Op::Negate, .dst = dst, .a = a});
  return dst;
}

Reg Builder::byte_swap(Operand a, uint32_t bytes) {
  Reg dst = new_reg();
  emit({.op = Op::ByteSwap,
        .size = static_cast<uint8_t>(bytes),
        .dst = dst,
        .a = reg_operand(in_reg(a))});
  return dst;
}

Reg Builder::extend(Operand a, uint32_t bytes, bool is_signed) {
  Reg dst = new_reg();
  emit({.op = Op::Extend,
        .size = static_cast<uint8_t>(bytes),
        .is_signed = is_signed,
        .dst = dst,
        .a = a});
  return dst;
}

Reg Builder::param(int64_t number) {
  Reg dst = new_reg();
  emit({.op = Op::Param, .dst = dst, .imm = number});
  return dst;
}

int32_t Builder::new_slot(uint32_t size, Place place) {
  program_.slots.push_back({.size = size, .place = place, .function = function_});
  return static_cast<int32_t>(program_.slots.size() - 1);
}

Reg Builder::load(Address address, uint32_t bytes) {
  Reg dst = new_reg();
  emit({.op = Op::Load, .size = static_cast<uint8_t>(bytes), .dst = dst, .address = address});
  return dst;
}

void Builder::store(Address address, uint32_t bytes, Operand value) {
  emit({.op = Op::Store, .size = static_cast<uint8_t>(bytes), .b = value, .address = address});
}

void Builder::atomic_add(Address address, uint32_t bytes, Operand value) {
  emit({.op = Op::AtomicAdd,
        .size = static_cast<uint8_t>(bytes),
        .b = reg_operand(in_reg(value)),
        .address = address});
}

Reg Builder::address_of(Address address) {
  if (address.base != kNoReg && address.offset == 0) return address.base;
  Reg dst = new_reg();
  emit({.op = Op::AddressOf, .dst = dst, .address = address});
  return dst;
}

Reg Builder::map_pointer(int64_t map) {
  Reg dst = new_reg();
  emit({.op = Op::MapPointer, .dst = dst, .imm = map});
  return dst;
}

Reg Builder::map_value(int64_t map, int32_t offset) {
  Reg dst = new_reg();
  emit({.op = Op::MapValue, .dst = dst, .address = {.offset = offset}, .imm = map});
  return dst;
}

Reg Builder::callback(int64_t function) {
  Reg dst = new_reg();
  emit({.op = Op::Callback, .dst = dst, .imm = function});
  return dst;
}

Reg Builder::call(int64_t helper, std::initializer_list<Operand> args) {
  Reg dst = new_reg();
  emit({.op = Op::Call, .dst = dst, .imm = helper, .args = args});
  return dst;
}

int32_t Builder::new_block() {
  blocks_.emplace_back();
  return static_cast<int32_t>(blocks_.size() - 1);
}

void Builder::start(int32_t block) {
  CHECK(!is_open_);
  current_ = block;
  order_.push_back(block);
  is_open_ = true;
}

void Builder::jump(int32_t target) {
  if (!is_open_) return;
  block().exit = {.kind = ExitKind::Jump, .then = target, .span = span_};
  is_open_ = false;
}

void Builder::branch(Compare compare, Operand a, Operand b, int32_t then, int32_t otherwise) {
  if (!is_open_) return;
  if (is_wide(b)) b = reg_operand(constant(b.imm));
  if (is_wide(a)) a = reg_operand(constant(a.imm));
  block().exit = {.kind = ExitKind::Branch,
                  .compare = compare,
                  .a = a,
                  .b = b,
                  .then = then,
                  .otherwise = otherwise,
                  .span = span_};
  is_open_ = false;
}

void Builder::ret(Operand value) {
  if (!is_open_) return;
  block().exit = {.kind = ExitKind::Return, .a = value, .span = span_};
  is_open_ = false;
}

void Builder::finish() {
  ret(imm_operand(0));
  std::vector<int32_t> place(blocks_.size(), -1);
  for (size_t i = 0; i < order_.size(); i++)
    place[static_cast<size_t>(order_[i])] = static_cast<int32_t>(i);
  Function& out = program_.functions[static_cast<size_t>(function_)];
  for (int32_t number : order_) {
    Block& from = blocks_[static_cast<size_t>(number)];
    if (from.exit.then >= 0) from.exit.then = place[static_cast<size_t>(from.exit.then)];
    if (from.exit.otherwise >= 0)
      from.exit.otherwise = place[static_cast<size_t>(from.exit.otherwise)];
    out.blocks.push_back(std::move(from));
  }
  out.registers = registers_;
}

}  // namespace flowtap::ir
