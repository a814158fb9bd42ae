// Feature tests against the running kernel; see live_features.h. Configuration says less than it
// seems to (lockdown, LSMs and missing rights refuse what is compiled in), so what can be tried
// cheaply is tried.

#include "live/live_features.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>

#include "base/fd.h"

namespace flowtap {

bool has_perf_source(const char* name) {
  std::string path = fmt::format("/sys/bus/event_source/devices/{}/type", name);
  return ::access(path.c_str(), F_OK) == 0;
}

namespace {

struct TinyProgram {
  bpf_prog_type type;
  std::span<const bpf_insn> insns;
  bpf_attach_type attach = static_cast<bpf_attach_type>(0);
  uint32_t attach_btf_id = 0;
};

// Invalid when the kernel refuses; what it had to say goes to `log` when one is given.
Fd load(const TinyProgram& tiny, std::string* log = nullptr) {
  const char license[] = "GPL";
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.prog_type = tiny.type;
  attr.expected_attach_type = tiny.attach;
  attr.attach_btf_id = tiny.attach_btf_id;
  attr.insns = reinterpret_cast<uint64_t>(tiny.insns.data());
  attr.insn_cnt = static_cast<uint32_t>(tiny.insns.size());
  attr.license = reinterpret_cast<uint64_t>(license);
  if (log) {
    log->assign(16384, '\0');
    attr.log_buf = reinterpret_cast<uint64_t>(log->data());
    attr.log_size = static_cast<uint32_t>(log->size());
    attr.log_level = 1;
  }
  Fd loaded(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr)));
  if (log) log->resize(std::strlen(log->c_str()));
  return loaded;
}

bool can_load(const TinyProgram& tiny, std::string* log = nullptr) {
  return load(tiny, log).valid();
}

constexpr bpf_insn kExit = {.code = BPF_JMP | BPF_EXIT};
constexpr bpf_insn set(uint8_t reg, int32_t value) {
  return {
      .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = static_cast<uint8_t>(reg & 15), .imm = value};
}
constexpr bpf_insn call(int32_t helper) { return {.code = BPF_JMP | BPF_CALL, .imm = helper}; }

}  // namespace

bool can_load_fentry(const Btf& vmlinux) {
  // Kept in every kernel with BPF and networking, for the kernel's own fentry tests.
  uint32_t function = vmlinux.find("bpf_fentry_test1", BtfKind::Func);
  const bpf_insn program[] = {set(BPF_REG_0, 0), kExit};
  return function && can_load({.type = BPF_PROG_TYPE_TRACING,
                               .insns = program,
                               .attach = BPF_TRACE_FENTRY,
                               .attach_btf_id = function});
}

bool can_attach_to_seven_arguments(const Btf& vmlinux) {
  uint32_t function = vmlinux.find("do_futex", BtfKind::Func);
  const bpf_insn code[] = {set(BPF_REG_0, 0), kExit};
  Fd program = load({.type = BPF_PROG_TYPE_TRACING,
                     .insns = code,
                     .attach = BPF_TRACE_FENTRY,
                     .attach_btf_id = function});
  if (!function || !program.valid()) return false;
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.raw_tracepoint.prog_fd = static_cast<uint32_t>(program.get());
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof attr)))
      .valid();
}

bool can_read_kernel() {
  const bpf_insn program[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
      {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
      set(BPF_REG_2, 8),
      set(BPF_REG_3, 0),
      call(BPF_FUNC_probe_read_kernel),
      set(BPF_REG_0, 0),
      kExit,
  };
  return can_load({.type = BPF_PROG_TYPE_KPROBE, .insns = program});
}

bool can_use_by_trial(const FeatureRow& row) {
  if (row.helper)
    return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, static_cast<bpf_func_id>(row.helper),
                                   nullptr) == 1;
  return row.map_type &&
         libbpf_probe_bpf_map_type(static_cast<bpf_map_type>(row.map_type), nullptr) == 1;
}

bool can_write_user() {
  const bpf_insn program[] = {
      {.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
      set(BPF_REG_1, 0),
      {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
      {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -8},
      set(BPF_REG_3, 8),
      call(BPF_FUNC_probe_write_user),
      set(BPF_REG_0, 0),
      kExit,
  };
  return can_load({.type = BPF_PROG_TYPE_KPROBE, .insns = program});
}

bool can_override_return() {
  const bpf_insn program[] = {set(BPF_REG_2, 0), call(BPF_FUNC_override_return), set(BPF_REG_0, 0),
                              kExit};
  return can_load({.type = BPF_PROG_TYPE_KPROBE, .insns = program});
}

// The arguments are missing, so the program is refused in any case; the reason is what counts.
bool kernel_allows_kfunc(int32_t id, ProgramType type, const Btf& vmlinux) {
  const bpf_insn program[] = {
      {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = id},
      set(BPF_REG_0, 0),
      kExit,
  };
  TinyProgram tiny{.type = BPF_PROG_TYPE_TRACING, .insns = program};
  switch (type) {
    case ProgramType::RawTracepoint: tiny.type = BPF_PROG_TYPE_RAW_TRACEPOINT; break;
    case ProgramType::Tracepoint: tiny.type = BPF_PROG_TYPE_TRACEPOINT; break;
    case ProgramType::Kprobe: tiny.type = BPF_PROG_TYPE_KPROBE; break;
    case ProgramType::PerfEvent: tiny.type = BPF_PROG_TYPE_PERF_EVENT; break;
    default:  // one rule for all tracing programs
      tiny.attach = BPF_TRACE_RAW_TP;
      tiny.attach_btf_id = vmlinux.find("btf_trace_sched_switch", BtfKind::Typedef);
  }
  std::string log;
  if (can_load(tiny, &log)) return true;
  return !log.empty() && log.find("not allowed") == std::string::npos;
}

}  // namespace flowtap
