// The current task and its relatives; see tasks.h.

#include "lower/tasks.h"

#include <linux/bpf.h>

#include "lang/walk.h"

namespace flowtap {

// The kernel fills a name up with zeros wherever it sets one, so that the bytes in the task are
// what the helper gives; reading them there takes a third off the cost of counting by name.
void Tasks::lower_comm(Address to) {
  if (std::optional<int32_t> offset = in_task("comm", kCommSize))
    return memory_.copy(to, ir::at(current_task(), *offset), kCommSize);
  memory_.zero(to, kCommSize);  // Linux 6.1 writes no further than the name reaches
  b().call(BPF_FUNC_get_current_comm, {reg(b().address_of(to)), imm(kCommSize)});
}

// One call of the helper does for a block, and one in the first block for all that follows.
ir::Reg Tasks::current_task() {
  bool is_known = task_.reg != ir::kNoReg && task_.function == b().function() &&
                  (task_.block == 0 || task_.block == b().current_block());
  if (!is_known)
    task_ = {b().call(BPF_FUNC_get_current_task_btf, {}), b().function(), b().current_block()};
  return task_.reg;
}

// The offset of a field; none when programs may not look into the task.
std::optional<int32_t> Tasks::in_task(std::string_view name, uint32_t size) const {
  bool may_look = image_.uses(Feature::CommInPlace) && image_.target().has(Feature::Btf) &&
                  image_.target().has(Feature::KernelReads) &&
                  image_.checked().config.license == "GPL";
  if (!may_look) return std::nullopt;
  Type task = image_.types().complete(image_.target().find_type("struct task_struct"));
  const Field* field = task ? find_field(task, name) : nullptr;
  if (!field || field->type->size != size) return std::nullopt;
  return static_cast<int32_t>(field->offset);
}

// Alone they cost as much as the helper's, but beside `comm` they save its call.
std::optional<int32_t> Tasks::id_in_task(bool wants_thread) const {
  if (!image_.uses(Feature::PidInPlace)) return std::nullopt;
  bool has_comm = false;
  for_each_expr(instance_.body, [&](const Expr& expr) {
    const Builtin* builtin = info(expr).builtin;
    has_comm |= builtin && builtin->id == Fn::Comm;
  });
  return has_comm ? in_task(wants_thread ? "pid" : "tgid", 4) : std::nullopt;
}

// tgid << 32 | tid, in the initial pid namespace or, through a helper, in flowtap's own.
ir::Operand Tasks::lower_pid(const std::vector<ExprPtr>& args, bool wants_thread) {
  bool wants_init = !args.empty() && word_of(*args[0]) == "init";
  if (image_.options().pid_namespace && !wants_init) {
    const LowerOptions::PidNamespace& where = *image_.options().pid_namespace;
    Address ids = memory_.temp(8);
    b().store(ids, 8, imm(0));
    b().call(BPF_FUNC_get_ns_current_pid_tgid,
             {imm(static_cast<int64_t>(where.device)), imm(static_cast<int64_t>(where.inode)),
              reg(b().address_of(ids)), imm(8)});
    return reg(b().load(ids + (wants_thread ? 0 : 4), 4));
  }
  if (std::optional<int32_t> offset = id_in_task(wants_thread))
    return reg(b().load(ir::at(current_task(), *offset), 4));
  Reg both = b().call(BPF_FUNC_get_current_pid_tgid, {});
  return wants_thread ? reg(b().extend(reg(both), 4, false))
                      : reg(b().alu(ir::Alu::Shr, reg(both), imm(32)));
}

ir::Operand Tasks::task_field(Operand task, const char* field) {
  return memory_.read_scalar(memory_.kernel_field(task, "struct task_struct", {field}));
}

Value Tasks::lower_task(const Expr& expr, const Builtin& builtin,
                        const std::vector<ExprPtr>& args) {
  Type type = type_of(expr);
  Operand task = args.empty() ? reg(b().call(BPF_FUNC_get_current_task, {}))
                              : expressions_.lower_scalar(*args[0]);
  bool of_parent = builtin.id == Fn::Pcomm || builtin.id == Fn::Ppid;
  Operand other = task_field(task, of_parent ? "real_parent" : "group_leader");
  if (builtin.id == Fn::Ppid) return scalar(type, memory_.narrow(task_field(other, "tgid"), type));
  if (builtin.id == Fn::LeaderTid)
    return scalar(type, memory_.narrow(task_field(other, "pid"), type));
  Type task_type = image_.types().complete(image_.target().find_type("struct task_struct"));
  const Field* comm = find_field(task_type, "comm");
  Address to = memory_.temp(16);
  memory_.read_bytes(to, 16,
                     {.type = type,
                      .space = AddressSpace::Kernel,
                      .address = ir::at(b().in_reg(other), static_cast<int32_t>(comm->offset))});
  return memory(type, to);
}

// A task that the kernel hands out must be given back.
void Tasks::lower_comm_of_pid(const Expr& arg, Address to, const Type& type) {
  Operand pid = memory_.narrow(expressions_.lower_scalar(arg), int_type(4, true));
  memory_.zero(to, type->size);
  Reg task = b().call(ir::kKfunc + *image_.target().kfunc_id("bpf_task_from_pid"), {pid});
  int32_t found = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(task), imm(0), found, done);
  b().start(found);
  Location comm = memory_.kernel_field(reg(task), "struct task_struct", {"comm"});
  b().call(BPF_FUNC_probe_read_kernel,
           {reg(b().address_of(to)), imm(16), reg(b().address_of(comm.address))});
  b().call(ir::kKfunc + *image_.target().kfunc_id("bpf_task_release"), {reg(task)});
  b().jump(done);
  b().start(done);
}

}  // namespace flowtap
