// One way to lower each builtin; those that look into the probe's context are in context.cc.

#include "lower/builtin_calls.h"

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <cstring>

#include "base/text.h"
#include "types/layout.h"

namespace flowtap {

Value BuiltinCalls::lower_builtin(const Expr& expr, const Builtin& builtin,
                                  const std::vector<ExprPtr>& args, std::string_view name) {
  Type type = type_of(expr);
  if (builtin.family == BuiltinFamily::Context)
    return uses_.context.lower_context(expr, builtin, args, name);
  auto call = [&](int64_t helper) {
    return scalar(type, uses_.memory.narrow(reg(b().call(helper, {})), type));
  };
  switch (builtin.id) {
    case Fn::Pid: return scalar(type, uses_.tasks.lower_pid(args, false));
    case Fn::Tid: return scalar(type, uses_.tasks.lower_pid(args, true));
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
    case Fn::LeaderTid: return uses_.tasks.lower_task(expr, builtin, args);
    case Fn::Strlen: return uses_.strings.lower_strlen(*args[0]);
    case Fn::Strstr: return uses_.strings.lower_search(expr, args, true);
    case Fn::Strcontains: return uses_.strings.lower_search(expr, args, false);
    case Fn::InPrefix: return uses_.net_addresses.lower_in_prefix(args);
    case Fn::Strncmp: return uses_.strings.lower_strncmp(args);
    case Fn::Memcmp: return uses_.strings.lower_memcmp(args);
    case Fn::ContainerOf: return uses_.kernel_objects.lower_container_of(expr, args);
    case Fn::PercpuKaddr: return uses_.kernel_objects.lower_percpu_kaddr(expr, args);
    case Fn::Uaddr: return uses_.kernel_objects.lower_uaddr(expr, *args[0]);
    case Fn::SocketCookie: return uses_.kernel_objects.lower_socket_cookie(expr, *args[0]);
    case Fn::Skboutput: return uses_.kernel_objects.lower_skboutput(expr, args);
    case Fn::WriteUser: return uses_.kernel_objects.lower_write_user(args);
    case Fn::Bswap: {
      Operand value = uses_.expressions.lower_scalar(*args[0]);
      if (type->size == 1) return scalar(type, uses_.memory.narrow(value, type));
      return scalar(type, reg(b().byte_swap(value, type->size)));
    }
    case Fn::Kptr:
    case Fn::Uptr: return scalar(type, uses_.expressions.lower_scalar(*args[0]));
    case Fn::IsErr: {
      // Error codes are the last 4095 addresses.
      Reg value = b().in_reg(uses_.expressions.lower_scalar(*args[0]));
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
    case Fn::Delete: return uses_.maps.lower_delete(args);
    case Fn::HasKey: return uses_.maps.lower_has_key(args);
    case Fn::Find: return uses_.maps.lower_find(args);
    case Fn::Len: return uses_.maps.lower_len(*args[0]);
    default: break;
  }
  if (builtin.has(kAction)) return uses_.actions.lower_action(expr, builtin, args);
  Address to = uses_.memory.temp(type->size);
  CHECK(lower_builtin_into(expr, builtin, args, to, type));
  return memory(type, to);
}

// Builtins whose value lies in memory, built at `to`. False for all others.
bool BuiltinCalls::lower_builtin_into(const Expr& expr, const Builtin& builtin,
                                      const std::vector<ExprPtr>& args, Address to,
                                      const Type& type) {
  b().set_span(expr.span);
  switch (builtin.id) {
    case Fn::Comm:
      if (type->size < kCommSize) return false;
      if (!args.empty()) return uses_.tasks.lower_comm_of_pid(*args[0], to, type), true;
      uses_.tasks.lower_comm(to);
      if (type->size > kCommSize) uses_.memory.zero(to + kCommSize, type->size - kCommSize);
      return true;
    case Fn::Str: uses_.text_reads.lower_str(expr, args, to, type); return true;
    case Fn::Buf: uses_.text_reads.lower_buf(expr, args, to, type); return true;
    case Fn::Kstack:
    case Fn::Ustack: uses_.stacks.lower_stack(expr, to); return true;
    case Fn::DwUstack: uses_.unwinding.lower_unwound_stack(expr, to); return true;
    case Fn::Ntop: uses_.net_addresses.lower_ntop(args, to); return true;
    case Fn::Macaddr: uses_.net_addresses.lower_macaddr(*args[0], to); return true;
    case Fn::StrConcat: uses_.strings.lower_str_concat(args, to, type); return true;
    case Fn::Path: uses_.kernel_objects.lower_path(expr, *args[0], to, type); return true;
    case Fn::Config: uses_.kernel_objects.lower_config(to, type); return true;
    case Fn::Strerror:
    case Fn::SignalName:
    case Fn::SyscallName:
      if (type->size < info(expr).type->size) return false;
      uses_.strings.lower_name(*args[0], builtin.id, to);
      if (type->size > info(expr).type->size)
        uses_.memory.zero(to + info(expr).type->size, type->size - info(expr).type->size);
      return true;
    case Fn::Username:
      b().store(to, 8, reg(b().extend(reg(b().call(BPF_FUNC_get_current_uid_gid, {})), 4, false)));
      return true;
    case Fn::Ksym: b().store(to, 8, uses_.expressions.lower_scalar(*args[0])); return true;
    case Fn::Usym: {
      b().store(to, 8, uses_.expressions.lower_scalar(*args[0]));
      Operand pid = uses_.tasks.lower_pid({}, false);
      b().store(to + kUSymPid, 8, pid);
      uses_.buffer.note_process(pid);
      return true;
    }
    case Fn::CgroupPath: {
      b().store(to, 8, uses_.expressions.lower_scalar(*args[0]));
      std::string filter = args.size() > 1 ? *info(*args[1]).text : "";
      b().store(to + kCgroupPathFilter, 8, imm(image_.add_string(filter)));
      return true;
    }
    case Fn::Strftime: {
      b().store(to, 8, uses_.expressions.lower_scalar(*args[1]));
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
      uses_.memory.store_text(to, type->size,
                              std::string(reinterpret_cast<const char*>(bytes), type->size));
      return true;
    }
    default: return false;
  }
}

ir::Operand BuiltinCalls::lower_clock(const std::vector<ExprPtr>& args) {
  std::string clock = args.empty() ? "boot" : word_of(*args[0]);
  if (clock == "monotonic") return reg(b().call(BPF_FUNC_ktime_get_ns, {}));
  if (clock == "tai") return reg(b().call(BPF_FUNC_ktime_get_tai_ns, {}));
  Reg boot = b().call(BPF_FUNC_ktime_get_boot_ns, {});
  if (clock == "sw_tai")
    return reg(b().alu(ir::Alu::Add, reg(boot), imm(image_.options().tai_offset_ns)));
  return reg(boot);
}

}  // namespace flowtap
