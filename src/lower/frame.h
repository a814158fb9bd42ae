#pragma once
// What the functions of one program share: the context, whether the probe has ended, and the
// variables that loop bodies use too. It lies on the program's stack, and callbacks get its
// address:
//   | context | return flag | captured variables ... |

#include "lower/code.h"

namespace flowtap {

class ProgramFrame : private CodeWriter {
 public:
  ProgramFrame(const CodeWriter& base, const Instance& instance)
      : CodeWriter(base), instance_(instance) {}

  // `forgets`: the verifier shall know nothing of numbers.
  void begin(Reg ctx, bool forgets);
  bool has_room() const;  // for another cell
  int add_cell() { return cells_++; }
  void make();  // when all cells are known

  Reg ctx();
  bool in_callback() const { return in_callback_; }
  // Runs `body`, which writes a function that gets the frame's address in `base`.
  void enter_callback(Reg base, const std::function<void()>& body);
  Operand frame_pointer();
  Address frame_cell(int cell);
  Address return_flag() { return frame_cell(1); }
  Reg load_cell(Address cell);  // a number
  void store_cell(int cell, Operand value, bool is_number);
  Reg plus_unknown_zero(Operand value, Operand pointer);
  Operand forgotten(const Type& type, Operand value);
  void lower_return(Operand value = imm(0));

  // The return flag when a function ends; odd ones end the probe.
  static constexpr int64_t kFunctionEnds = 2;

 private:
  static constexpr int kFirstCell = 2;  // after the context and the return flag

  const Instance& instance_;
  bool forgets_ = false;
  Reg ctx_ = ir::kNoReg;         // in the program itself
  Reg frame_base_ = ir::kNoReg;  // in callbacks
  int32_t frame_slot_ = -1;
  int cells_ = kFirstCell;
  bool in_callback_ = false;
};

}  // namespace flowtap
