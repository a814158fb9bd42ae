// The frame of a program; see frame.h.

#include "lower/frame.h"

#include <utility>

namespace flowtap {

// Few programs have so many variables that registers and stack cannot hold them; the rest of
// those lies in slots, which may be put elsewhere.
static constexpr int kMostInFrame = 24;

void ProgramFrame::begin(Reg ctx, bool forgets) {
  ctx_ = ctx;
  forgets_ = forgets;
}

bool ProgramFrame::has_room() const { return cells_ < kMostInFrame; }

void ProgramFrame::make() {
  if (!forgets_ && cells_ == kFirstCell) return;
  frame_slot_ = b().new_slot(static_cast<uint32_t>(cells_) * 8, ir::Place::Stack);
  b().store(ir::in_slot(frame_slot_), 8, reg(ctx_));
  for (int cell = 1; cell < cells_; cell++)
    b().store(ir::in_slot(frame_slot_, cell * 8), 8, imm(0));
}

void ProgramFrame::enter_callback(Reg base, const std::function<void()>& body) {
  Reg outer = std::exchange(frame_base_, base);
  bool was_in_callback = std::exchange(in_callback_, true);
  body();
  frame_base_ = outer;
  in_callback_ = was_in_callback;
}

ir::Operand ProgramFrame::frame_pointer() {
  return reg(in_callback_ ? frame_base_ : b().address_of(ir::in_slot(frame_slot_)));
}

ir::Reg ProgramFrame::ctx() { return in_callback_ ? b().load(frame_cell(0), 8) : ctx_; }

// Only tests have a use for the value. In a loop body: note that the whole probe ends, with the
// value above the lowest bit, then stop the loop.
void ProgramFrame::lower_return(Operand value) {
  if (instance_.kind != ProbeKind::Test) value = imm(0);
  if (!in_callback_) return b().ret(value);
  Reg shifted = b().alu(ir::Alu::Shl, value, imm(1));
  b().store(return_flag(), 8, reg(b().alu(ir::Alu::Or, reg(shifted), imm(1))));
  b().ret(imm(1));
}

ir::Address ProgramFrame::frame_cell(int cell) {
  return in_callback_ ? ir::at(frame_base_, cell * 8) : ir::in_slot(frame_slot_, cell * 8);
}

// The verifier runs a loop body again until nothing it knows changes. A counter it can follow
// would change in every round: writing its last byte apart makes it forget the number.
void ProgramFrame::store_cell(int cell, Operand value, bool is_number) {
  Address to = frame_cell(cell);
  b().store(to, 8, value);
  if (in_callback_ && is_number) b().store(to + 7, 1, reg(b().alu(ir::Alu::Shr, value, imm(56))));
}

// A difference of two pointers is a number that the verifier knows nothing of, and ours is zero.
ir::Reg ProgramFrame::plus_unknown_zero(Operand value, Operand pointer) {
  return b().alu(ir::Alu::Add, value, reg(b().alu(ir::Alu::Sub, pointer, pointer)));
}

// Before Linux 6.7 the verifier walks through a loop body once, and takes what it knows of the
// stack then for true in every round: it would remove the way out of `while ($i < 3)` as dead code.
ir::Reg ProgramFrame::load_cell(Address cell) {
  Reg number = b().load(cell, 8);
  return plus_unknown_zero(reg(number), frame_pointer());
}

ir::Operand ProgramFrame::forgotten(const Type& type, Operand value) {
  return forgets_ && is_integer(type) ? reg(plus_unknown_zero(value, frame_pointer())) : value;
}

}  // namespace flowtap
