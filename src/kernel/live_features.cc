// Feature tests against the running kernel; see live_features.h. Configuration says less than it
// seems to (lockdown, LSMs and missing rights refuse what is compiled in), so what can be tried
// cheaply is tried.

#include "kernel/live_features.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.h"

namespace flowtap {

bool has_perf_source(const char* name) {
  std::string path = fmt::format("/sys/bus/event_source/devices/{}/type", name);
  return ::access(path.c_str(), F_OK) == 0;
}

bool can_load_fentry(const Btf& vmlinux) {
  // Kept in every kernel with BPF and networking, for the kernel's own fentry tests.
  uint32_t function = vmlinux.find("bpf_fentry_test1", BtfKind::Func);
  if (!function) return false;

  const bpf_insn program[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},  // r0 = 0
      {.code = BPF_JMP | BPF_EXIT},
  };
  const char license[] = "GPL";
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.prog_type = BPF_PROG_TYPE_TRACING;
  attr.expected_attach_type = BPF_TRACE_FENTRY;
  attr.attach_btf_id = function;
  attr.insns = reinterpret_cast<uint64_t>(program);
  attr.insn_cnt = 2;
  attr.license = reinterpret_cast<uint64_t>(license);
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr))).valid();
}

}  // namespace flowtap
