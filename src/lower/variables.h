#pragma once
// Variables of the script: where each lives, and loading and storing it.

#include <map>

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/lowering.h"
#include "lower/memory.h"

namespace flowtap {

class Variables : private CodeWriter {
 public:
  Variables(const CodeWriter& base, const Instance& instance, ProgramFrame& frame, Memory& memory,
            ExpressionLowering& expressions)
      : CodeWriter(base),
        instance_(instance),
        frame_(frame),
        memory_(memory),
        expressions_(expressions) {}
  void choose_homes();
  void zero_variables(int function);
  void store_variable(VariableId variable, const Expr& value);
  void store_variable(VariableId variable, const Value& value);
  void zero_variable(VariableId variable);
  Value load_variable(VariableId variable);
  Address variable_address(VariableId variable);
  void leave_homes(int function);
  Address range_start(VariableId variable);  // where a range loop keeps its first index

 private:
  void choose_home(VariableId variable);
  void choose_start(VariableId variable);
  bool reads(const Expr& value, VariableId variable) const;

  const Instance& instance_;
  ProgramFrame& frame_;
  Memory& memory_;
  ExpressionLowering& expressions_;
  struct Home {
    Reg reg = ir::kNoReg;       // scalars used in one function only
    int32_t slot = -1;          // values in memory
    bool is_in_memory = false;  // scalars too, when there are very many
    int cell = -1;              // captured scalars: word in the frame
    int start_cell = -1;        // variables of range loops: word with the first index...
    int32_t start_slot = -1;    // ...or a slot for it, when there are very many
  };
  int in_registers_ = 0;  // scalar variables that got a register
  std::map<VariableId, Home> homes_;
};

}  // namespace flowtap
