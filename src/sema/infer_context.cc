// Builtins whose type depends on the probe, on the current task or on its stacks; see
// infer_context.h.

#include "sema/infer_context.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "types/layout.h"

namespace flowtap {

static constexpr int64_t kMostFrames = 1024;

Type ContextTypes::task_type(const Expr& expr, const Builtin& builtin,
                             const std::vector<ExprPtr>& args) {
  if (builtin.id == Fn::Comm && !args.empty()) return comm_of_pid_type(*args[0]);
  Type task = input_.target.find_type("struct task_struct");
  if (builtin.id == Fn::Comm) return string_type(16);
  if (!task) {
    error(expr.span, fmt::format("'{}' needs the kernel's type information (BTF), which this "
                                 "kernel lacks",
                                 builtin.name));
    return unknown_type();
  }
  switch (builtin.id) {
    case Fn::Curtask: return pointer_type(task, AddressSpace::Kernel);
    case Fn::Ppid:
    case Fn::LeaderTid: return int_type(4, false);
    case Fn::Pcomm:
    case Fn::LeaderComm: return string_type(16);
    default: UNREACHABLE("a builtin of tasks whose type is not known");
  }
}

Type ContextTypes::context_type(const Expr& expr, const Builtin& builtin,
                                const std::vector<ExprPtr>& args, std::string_view name) {
  const ProbeRow& row = probe_row(place_.instance->kind);
  auto refuse = [&](std::string_view where) {
    error(expr.span, fmt::format("'{}' is not available in {} probes", name, row.name))
        .with_hint(fmt::format("it exists in {} probes", where));
    return unknown_type();
  };
  switch (builtin.id) {
    case Fn::Func:
      if (!row.has(kHasFunc)) return refuse("function");
      return row.has(kUserSpace) ? simple_type(Kind::USym, kUSymSize) : simple_type(Kind::KSym, 8);
    case Fn::Retval:
      if (!row.has(kHasRetval)) return refuse("kretprobe, fexit and uretprobe");
      return place_.instance->result && !is(place_.instance->result, Kind::None)
                 ? place_.instance->result
                 : int_type(8, false);
    case Fn::ArgN: {
      if (!row.has(kHasArgN)) return refuse("kprobe, uprobe, usdt and rawtracepoint");
      size_t number = static_cast<size_t>(argument_number(name));
      if (row.family == ProbeFamily::Marker) {
        if (number >= place_.instance->usdt_args.size()) {
          error(expr.span,
                fmt::format("{} has {} and no '{}'", place_.instance->attach[0].name,
                            counted(place_.instance->usdt_args.size(), "argument"), name));
          return unknown_type();
        }
        return int_type(place_.instance->usdt_args[number].bytes,
                        place_.instance->usdt_args[number].is_signed);
      }
      bool has_signature = row.family == ProbeFamily::RawTracepoint && place_.instance->args;
      if (has_signature && number >= place_.instance->args->fields.size()) {
        error(expr.span,
              fmt::format("{} has {} and no '{}'", place_.instance->attach[0].name,
                          counted(place_.instance->args->fields.size(), "argument"), name));
        return unknown_type();
      }
      return int_type(8, row.family == ProbeFamily::Function);
    }
    case Fn::Args:
      if (!place_.instance->args)
        return refuse("tracepoint, rawtracepoint, fentry, fexit, uprobe and iter");
      return place_.instance->args;
    case Fn::Ctx:
      if (row.family == ProbeFamily::Iterator)
        return pointer_type(place_.instance->args, AddressSpace::Context);
      return pointer_type(none_type(), AddressSpace::Context);
    case Fn::Register: {
      if (!row.has(kHasArgN) || row.program != ProgramType::Kprobe)
        return refuse("kprobe and uprobe");
      const std::optional<std::string>& wanted = info(*args[0]).text;
      if (wanted && !input_.target.arch().register_offset(*wanted))
        error(args[0]->span, fmt::format("there is no register '{}'", *wanted))
            .with_hint("the registers are " + input_.target.arch().register_names());
      return int_type(8, false);
    }
    case Fn::Usermode:  // in the saved registers
      if (row.program != ProgramType::Kprobe && row.program != ProgramType::PerfEvent)
        return refuse("kprobe, uprobe, profile, interval, software and hardware");
      return int_type(1, false);
    default: UNREACHABLE("a builtin whose type is not known");
  }
}

Type ContextTypes::stack_call_type(const Expr& expr, const Builtin& builtin,
                                   const std::vector<ExprPtr>& args) {
  if (builtin.id == Fn::DwUstack) check_unwinding(expr);
  bool is_user = builtin.id == Fn::Ustack || builtin.id == Fn::DwUstack;
  Kind kind = is_user ? Kind::UStack : Kind::KStack;
  StackMode mode = program_.config.stack_mode;
  int64_t limit = 127;
  bool has_mode = false, has_limit = false;
  for (const ExprPtr& arg : args) {
    bool is_mode = std::holds_alternative<Identifier>(arg->node);
    if (std::exchange(is_mode ? has_mode : has_limit, true))
      error(arg->span, fmt::format("{}() takes one {}", builtin.name, is_mode ? "mode" : "limit"));
    if (is_mode) {
      std::optional<StackMode> given = parse_stack_mode(word_of(*arg));
      if (given)
        mode = *given;
      else
        error(arg->span, fmt::format("'{}' is not a stack mode", word_of(*arg)))
            .with_hint("the modes are bpftrace, perf, raw, build_id and folded");
    } else if (std::optional<int64_t> number = info(*arg).value) {
      if (arguments_.expect_within(*arg, fmt::format("the limit of {}()", builtin.name), 0,
                                   kMostFrames))
        limit = *number;
    } else {
      error(arg->span,
            fmt::format("the limit of {}() must be known at compile time", builtin.name));
    }
  }
  if (mode == StackMode::BuildId && kind == Kind::KStack) {
    if (!args.empty()) error(expr.span, "build ids exist for user stacks only");
    mode = StackMode::Bpftrace;
  }
  if (mode == StackMode::BuildId && builtin.id == Fn::DwUstack) {
    error(expr.span, "dw_ustack() does not know build ids").with_hint("ustack(build_id) does");
    mode = StackMode::Bpftrace;
  }
  uint32_t frames = static_cast<uint32_t>(limit);
  uint32_t frame_size = mode == StackMode::BuildId ? kBuildIdFrameSize : 8;
  return stack_type(kind, mode, frames, kStackHeader + frames * frame_size);
}

// comm(pid) asks the kernel for a task, which it then has to give back: two kfuncs of 6.2.
Type ContextTypes::comm_of_pid_type(const Expr& arg) {
  arguments_.expect_integer(arg, "comm");
  ProgramType type = probe_row(place_.instance->kind).program;
  for (const char* kfunc : {"bpf_task_from_pid", "bpf_task_release"})
    if (!input_.target.can_call_kfunc(kfunc, type)) {
      error(arg.span,
            fmt::format("comm() of another process is not possible in {} probes: the kernel does "
                        "not let them call '{}'",
                        probe_row(place_.instance->kind).name, kfunc))
          .with_hint("Linux 6.12 and later allow it in tracepoint and profile probes");
      break;
    }
  return string_type(16);
}

// Programs read the registers that a process had in user mode, and by what it is known, from its
// task; both are memory of the kernel's.
void ContextTypes::check_unwinding(const Expr& expr) {
  if (program_.config.unstable_dw_ustack == Unstable::Error)
    error(expr.span, "dw_ustack() is switched off")
        .with_hint("set unstable_dw_ustack = enable in the config block");
  else if (program_.config.unstable_dw_ustack == Unstable::Warn)
    warning(expr.span, "dw_ustack() may still change")
        .with_hint("config = { unstable_dw_ustack = enable } silences this");
  auto has_field = [&](const char* type_name, const char* name) {
    Type type = types().find_type(type_name);
    return type && find_field(types().complete(type), name);
  };
  bool has_fields = has_field("struct task_struct", "mm") &&
                    has_field("struct mm_struct", "start_stack") &&
                    has_field("struct mm_struct", "end_code");
  if (!input_.target.has(Feature::Btf) || !has_fields)
    error(expr.span, "dw_ustack() needs a kernel with BTF (/sys/kernel/btf/vmlinux)")
        .with_hint("ustack() works without, for programs with frame pointers");
  else if (!input_.target.has(Feature::KernelReads))
    error(expr.span, "dw_ustack() has to read kernel memory, which lockdown forbids here")
        .with_hint("ustack() works, for programs with frame pointers");
}

}  // namespace flowtap
