#pragma once
// Who runs: the current task and its names and numbers, and those of its relatives.

#include "lower/code.h"
#include "lower/lowering.h"
#include "lower/memory.h"

namespace flowtap {

inline constexpr uint32_t kCommSize = 16;  // TASK_COMM_LEN

class Tasks : private CodeWriter {
 public:
  Tasks(const CodeWriter& base, const Instance& instance, Memory& memory,
        ExpressionLowering& expressions)
      : CodeWriter(base), instance_(instance), memory_(memory), expressions_(expressions) {}
  Operand lower_pid(const std::vector<ExprPtr>& args, bool wants_thread);
  void lower_comm(Address to);
  void lower_comm_of_pid(const Expr& arg, Address to, const Type& type);
  Value lower_task(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);

 private:
  Reg current_task();
  std::optional<int32_t> in_task(std::string_view name, uint32_t size) const;
  std::optional<int32_t> id_in_task(bool wants_thread) const;
  Operand task_field(Operand task, const char* field);

  const Instance& instance_;
  Memory& memory_;
  ExpressionLowering& expressions_;
  // Where the address of the current task is known already.
  struct Known {
    Reg reg = ir::kNoReg;
    int32_t function = 0, block = 0;
  };
  Known task_;
};

}  // namespace flowtap
