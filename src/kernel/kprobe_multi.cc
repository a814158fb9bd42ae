// The link type kprobe_multi; see kprobe_multi.h.

#include "kernel/kprobe_multi.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>

namespace flowtap {

bool is_plain_kprobe(const AttachPoint& point) {
  const ProbeRow& row = probe_row(point.kind);
  bool is_kprobe = row.family == ProbeFamily::Function && row.program == ProgramType::Kprobe;
  return is_kprobe && point.offset == 0 && !point.kernel_address;
}

bool is_for_many_functions(const Program& program) {
  return program.attach.size() > 1 &&
         std::all_of(program.attach.begin(), program.attach.end(), is_plain_kprobe);
}

Fd link_kprobe_multi(int program_fd, const KprobeMulti& probes) {
  LIBBPF_OPTS(bpf_link_create_opts, opts);
  opts.kprobe_multi.flags = probes.is_return ? BPF_F_KPROBE_MULTI_RETURN : 0;
  opts.kprobe_multi.cnt =
      static_cast<uint32_t>(std::max(probes.names.size(), probes.addresses.size()));
  if (!probes.names.empty()) opts.kprobe_multi.syms = const_cast<const char**>(probes.names.data());
  if (!probes.addresses.empty())
    opts.kprobe_multi.addrs = const_cast<unsigned long*>(probes.addresses.data());
  return Fd(::bpf_link_create(program_fd, 0, BPF_TRACE_KPROBE_MULTI, &opts));
}

// Attaches to nothing: a kernel that knows the type says that this is too little.
bool has_kprobe_multi() {
  const bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
                           {.code = BPF_JMP | BPF_EXIT}};
  LIBBPF_OPTS(bpf_prog_load_opts, opts);
  opts.expected_attach_type = BPF_TRACE_KPROBE_MULTI;
  Fd program(::bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe", "GPL", code, 2, &opts));
  if (!program.valid()) return false;
  Fd link = link_kprobe_multi(program.get(), {});
  return !link.valid() && errno == EINVAL;
}

}  // namespace flowtap
