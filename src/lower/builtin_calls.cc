// One way to lower each builtin; those that look into the probe's context are in context.cc.

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <csignal>
#include <cstring>

#include "base/text.h"
#include "lang/walk.h"
#include "lower/lowering.h"
#include "types/layout.h"

namespace flowtap {

static constexpr uint32_t kCommSize = 16;  // TASK_COMM_LEN

static std::string word_of(const Expr& expr) {
  const Identifier* word = std::get_if<Identifier>(&expr.node);
  return word ? word->name : std::string();
}

Value Lowering::lower_builtin(const Expr& expr, const Builtin& builtin,
                              const std::vector<ExprPtr>& args, std::string_view name) {
  Type type = type_of(expr);
  auto call = [&](int64_t helper) { return scalar(type, narrow(reg(b().call(helper, {})), type)); };
  switch (builtin.id) {
    case Fn::Pid: return scalar(type, lower_pid(args, false));
    case Fn::Tid: return scalar(type, lower_pid(args, true));
    case Fn::Uid:
      return scalar(type,
                    reg(b().extend(reg(b().call(BPF_FUNC_get_current_uid_gid, {})), 4, false)));
    case Fn::Gid:
      return scalar(type, reg(b().alu(ir::Alu::Shr, reg(b().call(BPF_FUNC_get_current_uid_gid, {})),
                                      imm(32))));
    case Fn::Nsecs: return scalar(type, lower_clock(args));
    case Fn::Elapsed:
      return scalar(type, reg(b().alu(ir::Alu::Sub, reg(b().call(BPF_FUNC_ktime_get_boot_ns, {})),
                                      imm(static_cast<int64_t>(image_.options().start_ns)))));
    case Fn::Jiffies: return call(BPF_FUNC_jiffies64);
    case Fn::Cpu: return call(BPF_FUNC_get_smp_processor_id);
    case Fn::Numaid: return call(BPF_FUNC_get_numa_node_id);
    case Fn::Rand: return call(BPF_FUNC_get_prandom_u32);
    case Fn::Cgroup: return call(BPF_FUNC_get_current_cgroup_id);
    case Fn::Curtask: return call(BPF_FUNC_get_current_task);
    case Fn::Pcomm:
    case Fn::Ppid:
    case Fn::LeaderComm:
    case Fn::LeaderTid: return lower_task(expr, builtin, args);
    case Fn::Func:
    case Fn::Retval:
    case Fn::ArgN:
    case Fn::Args:
    case Fn::Ctx:
    case Fn::Usermode:
    case Fn::Register: return lower_context(expr, builtin, args, name);
    case Fn::Strlen: return lower_strlen(*args[0]);
    case Fn::Strstr: return lower_search(expr, args, true);
    case Fn::Strcontains: return lower_search(expr, args, false);
    case Fn::InPrefix: return lower_in_prefix(args);
    case Fn::Strncmp: return lower_strncmp(args);
    case Fn::Memcmp: return lower_memcmp(args);
    case Fn::ContainerOf: return lower_container_of(expr, args);
    case Fn::PercpuKaddr: return lower_percpu_kaddr(expr, args);
    case Fn::Uaddr: return lower_uaddr(expr, *args[0]);
    case Fn::SocketCookie: return lower_socket_cookie(expr, *args[0]);
    case Fn::Skboutput: return lower_skboutput(expr, args);
    case Fn::WriteUser: return lower_write_user(args);
    case Fn::Bswap: {
      Operand value = lower_scalar(*args[0]);
      if (type->size == 1) return scalar(type, narrow(value, type));
      return scalar(type, reg(b().byte_swap(value, type->size)));
    }
    case Fn::Kptr:
    case Fn::Uptr: return scalar(type, lower_scalar(*args[0]));
    case Fn::IsErr: {
      // Error codes are the last 4095 addresses.
      Reg value = b().in_reg(lower_scalar(*args[0]));
      Reg result = b().new_reg();
      int32_t yes = b().new_block(), done = b().new_block();
      b().assign(result, imm(0));
      b().branch(ir::Compare::Gt, reg(value), imm(-4096), yes, done);
      b().start(yes);
      b().assign(result, imm(1));
      b().jump(done);
      b().start(done);
      return scalar(type, reg(result));
    }
    case Fn::Delete: return lower_delete(args);
    case Fn::HasKey: return lower_has_key(args);
    case Fn::Find: return lower_find(args);
    case Fn::Len: return lower_len(*args[0]);
    default: break;
  }
  if (builtin.has(kAction)) return lower_action(expr, builtin, args);
  Address to = temp(type->size);
  CHECK(lower_builtin_into(expr, builtin, args, to, type));
  return memory(type, to);
}

// The kernel fills a name up with zeros wherever it sets one, so that the bytes in the task are
// what the helper gives; reading them there takes a third off the cost of counting by name.
void Lowering::lower_comm(Address to) {
  if (std::optional<int32_t> offset = in_task("comm", kCommSize))
    return copy(to, ir::at(current_task(), *offset), kCommSize);
  zero(to, kCommSize);  // Linux 6.1 writes no further than the name reaches
  b().call(BPF_FUNC_get_current_comm, {reg(b().address_of(to)), imm(kCommSize)});
}

// One call of the helper does for a block, and one in the first block for all that follows.
ir::Reg Lowering::current_task() {
  bool is_known = task_.reg != ir::kNoReg && task_.function == b().function() &&
                  (task_.block == 0 || task_.block == b().current_block());
  if (!is_known)
    task_ = {b().call(BPF_FUNC_get_current_task_btf, {}), b().function(), b().current_block()};
  return task_.reg;
}

// The offset of a field; none when programs may not look into the task.
std::optional<int32_t> Lowering::in_task(std::string_view name, uint32_t size) const {
  bool may_look = image_.options().uses(Feature::CommInPlace) &&
                  image_.target().has(Feature::Btf) && image_.target().has(Feature::KernelReads) &&
                  image_.checked().config.license == "GPL";
  if (!may_look) return std::nullopt;
  Type task = image_.types().complete(image_.target().find_type("struct task_struct"));
  const Field* field = task ? find_field(task, name) : nullptr;
  if (!field || field->type->size != size) return std::nullopt;
  return static_cast<int32_t>(field->offset);
}

// Alone they cost as much as the helper's, but beside `comm` they save its call.
std::optional<int32_t> Lowering::id_in_task(bool wants_thread) const {
  if (!image_.options().uses(Feature::PidInPlace)) return std::nullopt;
  bool has_comm = false;
  for_each_expr(instance_.body, [&](const Expr& expr) {
    const Builtin* builtin = info(expr).builtin;
    has_comm |= builtin && builtin->id == Fn::Comm;
  });
  return has_comm ? in_task(wants_thread ? "pid" : "tgid", 4) : std::nullopt;
}

// Builtins whose value lies in memory, built at `to`. False for all others.
bool Lowering::lower_builtin_into(const Expr& expr, const Builtin& builtin,
                                  const std::vector<ExprPtr>& args, Address to, const Type& type) {
  b().set_span(expr.span);
  switch (builtin.id) {
    case Fn::Comm:
      if (type->size < kCommSize) return false;
      if (!args.empty()) return lower_comm_of_pid(*args[0], to, type), true;
      lower_comm(to);
      if (type->size > kCommSize) zero(to + kCommSize, type->size - kCommSize);
      return true;
    case Fn::Str: lower_str(expr, args, to, type); return true;
    case Fn::Buf: lower_buf(expr, args, to, type); return true;
    case Fn::Kstack:
    case Fn::Ustack: lower_stack(expr, to); return true;
    case Fn::DwUstack: lower_unwound_stack(expr, to); return true;
    case Fn::Ntop: lower_ntop(args, to); return true;
    case Fn::Macaddr: lower_macaddr(*args[0], to); return true;
    case Fn::StrConcat: lower_str_concat(args, to, type); return true;
    case Fn::Path: lower_path(expr, *args[0], to, type); return true;
    case Fn::Config: lower_config(to, type); return true;
    case Fn::Strerror:
    case Fn::SignalName:
    case Fn::SyscallName:
      if (type->size < info(expr).type->size) return false;
      lower_name(*args[0], builtin.id, to);
      if (type->size > info(expr).type->size)
        zero(to + info(expr).type->size, type->size - info(expr).type->size);
      return true;
    case Fn::Username:
      b().store(to, 8, reg(b().extend(reg(b().call(BPF_FUNC_get_current_uid_gid, {})), 4, false)));
      return true;
    case Fn::Ksym: b().store(to, 8, lower_scalar(*args[0])); return true;
    case Fn::Usym: {
      b().store(to, 8, lower_scalar(*args[0]));
      Operand pid = lower_pid({}, false);
      b().store(to + kUSymPid, 8, pid);
      note_process(pid);
      return true;
    }
    case Fn::CgroupPath: {
      b().store(to, 8, lower_scalar(*args[0]));
      std::string filter = args.size() > 1 ? *info(*args[1]).text : "";
      b().store(to + kCgroupPathFilter, 8, imm(image_.add_string(filter)));
      return true;
    }
    case Fn::Strftime: {
      b().store(to, 8, lower_scalar(*args[1]));
      Clock clock = Clock::Boot;
      if (auto* nested = std::get_if<Call>(&args[1]->node);
          nested && info(*args[1]).builtin && info(*args[1]).builtin->id == Fn::Nsecs &&
          !nested->args.empty()) {
        std::string word = word_of(*nested->args[0]);
        clock = word == "tai" ? Clock::Tai : word == "sw_tai" ? Clock::SwTai : Clock::Boot;
      }
      b().store(to + kTimestampClock, 4, imm(static_cast<int64_t>(clock)));
      b().store(to + kTimestampFormat, 4, imm(image_.add_string(*info(*args[0]).text)));
      return true;
    }
    case Fn::Pton: {
      unsigned char bytes[16] = {};
      const std::string& text = *info(*args[0]).text;
      if (type->size == 16)
        inet_pton(AF_INET6, text.c_str(), bytes);
      else
        inet_pton(AF_INET, text.c_str(), bytes);
      store_text(to, type->size, std::string(reinterpret_cast<const char*>(bytes), type->size));
      return true;
    }
    default: return false;
  }
}

Value Lowering::lower_action(const Expr& expr, const Builtin& builtin,
                             const std::vector<ExprPtr>& args) {
  switch (builtin.id) {
    case Fn::Printf:
    case Fn::Errorf:
    case Fn::Warnf:
    case Fn::Cat:
    case Fn::System: lower_printf(expr, builtin, args); break;
    case Fn::Print: lower_print(expr, args); break;
    case Fn::Exit: lower_exit(expr, args); break;
    case Fn::Time: lower_time(expr, args); break;
    case Fn::Join: lower_join(expr, args); break;
    case Fn::Assert: lower_assert(expr, args); break;
    case Fn::Clear:
    case Fn::Zero: {
      if (taken_.contains(args[0].get())) break;  // the print before it does that
      Event event{.kind = builtin.id == Fn::Clear ? EventKind::ClearMap : EventKind::ZeroMap,
                  .span = expr.span};
      event.map = image_.script_map(info(*args[0]).map);
      send(std::move(event), {});
      break;
    }
    case Fn::Signal:
    case Fn::SignalThread: lower_signal(builtin, *args[0]); break;
    case Fn::Override: lower_override(*args[0]); break;
    case Fn::Unwatch: send({.kind = EventKind::Unwatch, .span = expr.span}, {args[0].get()}); break;
    default: break;  // static_assert, fail: the checker has done their work
  }
  return {none_type(), {}, {}};
}

void Lowering::lower_signal(const Builtin& builtin, const Expr& arg) {
  Operand number = info(arg).text ? imm(signal_number(*info(arg).text)) : lower_scalar(arg);
  b().call(builtin.id == Fn::Signal ? BPF_FUNC_send_signal : BPF_FUNC_send_signal_thread, {number});
}

// tgid << 32 | tid, in the initial pid namespace or, through a helper, in flowtap's own.
ir::Operand Lowering::lower_pid(const std::vector<ExprPtr>& args, bool wants_thread) {
  bool wants_init = !args.empty() && word_of(*args[0]) == "init";
  if (image_.options().pid_namespace && !wants_init) {
    const LowerOptions::PidNamespace& where = *image_.options().pid_namespace;
    Address ids = temp(8);
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

ir::Operand Lowering::lower_clock(const std::vector<ExprPtr>& args) {
  std::string clock = args.empty() ? "boot" : word_of(*args[0]);
  if (clock == "monotonic") return reg(b().call(BPF_FUNC_ktime_get_ns, {}));
  if (clock == "tai") return reg(b().call(BPF_FUNC_ktime_get_tai_ns, {}));
  Reg boot = b().call(BPF_FUNC_ktime_get_boot_ns, {});
  if (clock == "sw_tai")
    return reg(b().alu(ir::Alu::Add, reg(boot), imm(image_.options().tai_offset_ns)));
  return reg(boot);
}

}  // namespace flowtap
