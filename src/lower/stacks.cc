// Stacks that the kernel walks; see stacks.h.

#include "lower/stacks.h"

#include <linux/bpf.h>

#include "types/layout.h"

namespace flowtap {

//   | u32 frames | u32 pid | u64 frames ... |   the helper zeroes what it does not fill
void Stacks::lower_stack(const Expr& expr, Address to) {
  const Type& type = info(expr).type;
  bool is_user = is(type, Kind::UStack);
  bool by_build_id = type->stack_mode == StackMode::BuildId;
  uint32_t frame = by_build_id ? kBuildIdFrameSize : kStackFrameSize;
  uint32_t room = type->stack_limit * frame;
  if (room == 0) {  // kstack(0): a script that was asked for none
    uses_.memory.zero(to, kStackHeader);
    return;
  }
  // Linux 6.1 wants it to have been written, for raw tracepoints and where it may lie on the stack.
  if (room <= 128) uses_.memory.zero(to + kStackHeader, room);
  int64_t flags = (is_user ? BPF_F_USER_STACK : 0) | (by_build_id ? BPF_F_USER_BUILD_ID : 0);
  Reg bytes = b().call(
      BPF_FUNC_get_stack,
      {reg(uses_.frame.ctx()), reg(b().address_of(to + kStackHeader)), imm(room), imm(flags)});
  Reg count = b().new_reg();
  int32_t failed = b().new_block(), good = b().new_block(), done = b().new_block();
  // Linux 6.1 has no kernel stack at the tracepoints of system calls, and says so by giving none. A
  // sample has none when it was taken in user mode.
  bool may_be_empty = is_user || instance_.program == ProgramType::PerfEvent;
  b().branch(may_be_empty ? ir::Compare::SLt : ir::Compare::SLe, reg(bytes), imm(0), failed, good);
  b().start(failed);
  if (!is_user) note_site(SiteKind::StackLost, "kstack", reg(bytes));
  b().assign(count, imm(0));
  b().jump(done);
  b().start(good);
  b().assign(count, reg(b().alu(ir::Alu::Div, reg(bytes), imm(frame))));
  b().jump(done);
  b().start(done);
  b().store(to, 4, reg(count));
  Operand pid = imm(0);
  if (is_user) pid = uses_.tasks.lower_pid({}, false);
  b().store(to + kStackPid, 4, pid);
  if (is_user && !by_build_id && type->stack_mode != StackMode::Raw) uses_.buffer.note_process(pid);
}

}  // namespace flowtap
