#pragma once
// Builder: writes one function of an IR program. Blocks may be made before they are placed;
// start() places a block, and finish() puts blocks into the order they were placed in.

#include <initializer_list>

#include "ir/ir.h"

namespace flowtap::ir {

class Builder {
 public:
  Builder(Program& program, int32_t function) : program_(program), function_(function) {
    start(new_block());
  }

  void set_span(Span span) { span_ = span; }
  Span span() const { return span_; }
  Program& program() { return program_; }
  int32_t function() const { return function_; }

  // --- values
  Reg new_reg();
  Reg constant(int64_t value);
  Reg move(Operand from);
  void assign(Reg to, Operand from);
  Reg alu(Alu alu, Operand a, Operand b);
  Reg negate(Operand a);
  Reg byte_swap(Operand a, uint32_t bytes);
  Reg extend(Operand a, uint32_t bytes, bool is_signed);
  Reg param(int64_t number);
  Reg in_reg(Operand operand);

  // --- memory
  int32_t new_slot(uint32_t size, Place place = Place::Auto);
  Reg load(Address address, uint32_t bytes);
  void store(Address address, uint32_t bytes, Operand value);
  void atomic_add(Address address, uint32_t bytes, Operand value);
  Reg address_of(Address address);
  Reg map_pointer(int64_t map);
  Reg map_value(int64_t map, int32_t offset = 0);
  Reg callback(int64_t function);
  Reg call(int64_t helper, std::initializer_list<Operand> args);

  // --- control flow
  int32_t new_block();
  void start(int32_t block);
  int32_t current_block() const { return current_; }
  bool is_open() const { return is_open_; }  // the current block has no exit yet
  void jump(int32_t target);
  void branch(Compare compare, Operand a, Operand b, int32_t then, int32_t otherwise);
  void ret(Operand value);
  void finish();

 private:
  Inst& emit(Inst inst);
  Block& block() { return blocks_[static_cast<size_t>(current_)]; }

  Program& program_;
  int32_t function_;
  std::vector<Block> blocks_;
  std::vector<int32_t> order_;
  int32_t registers_ = 0;
  int32_t current_ = 0;
  bool is_open_ = false;
  Span span_;
};

inline Address at(Reg base, int32_t offset = 0) { return {.base = base, .offset = offset}; }
inline Address in_slot(int32_t slot, int32_t offset = 0) {
  return {.slot = slot, .offset = offset};
}
inline Address operator+(Address address, int64_t offset) {
  address.offset += static_cast<int32_t>(offset);
  return address;
}

}  // namespace flowtap::ir
