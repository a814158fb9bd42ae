// The link type uprobe_multi; see uprobe_multi.h.

#include "kernel/uprobe_multi.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace flowtap {

namespace {

// The part of union bpf_attr for BPF_LINK_CREATE that this link type reads.
struct LinkAttr {
  uint32_t program_fd;
  uint32_t target_fd;
  uint32_t attach_type;
  uint32_t flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t counter_offsets;
  uint64_t cookies;
  uint32_t count;
  uint32_t probe_flags;
  uint32_t pid;
  uint32_t spare;
};

constexpr uint32_t kReturn = 1;  // BPF_F_UPROBE_MULTI_RETURN

}  // namespace

Fd link_uprobe_multi(int program_fd, const UprobeMulti& probes) {
  for (std::span<const uint64_t> one : {probes.counter_offsets, probes.cookies})
    CHECK(one.empty() || one.size() == probes.offsets.size());
  LinkAttr attr = {};
  attr.program_fd = static_cast<uint32_t>(program_fd);
  attr.attach_type = kUprobeMultiAttachType;
  attr.path = reinterpret_cast<uint64_t>(probes.path.c_str());
  attr.offsets = reinterpret_cast<uint64_t>(probes.offsets.data());
  if (!probes.counter_offsets.empty())
    attr.counter_offsets = reinterpret_cast<uint64_t>(probes.counter_offsets.data());
  if (!probes.cookies.empty()) attr.cookies = reinterpret_cast<uint64_t>(probes.cookies.data());
  attr.count = static_cast<uint32_t>(probes.offsets.size());
  attr.probe_flags = probes.is_return ? kReturn : 0;
  attr.pid = static_cast<uint32_t>(probes.pid);
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof attr)));
}

// Attaches to a directory: a kernel that knows the type says that it is no file.
bool has_uprobe_multi() {
  const bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
                           {.code = BPF_JMP | BPF_EXIT}};
  LIBBPF_OPTS(bpf_prog_load_opts, opts);
  opts.expected_attach_type = static_cast<bpf_attach_type>(kUprobeMultiAttachType);
  Fd program(::bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe", "GPL", code, 2, &opts));
  if (!program.valid()) return false;
  const uint64_t offset[] = {0};
  Fd link = link_uprobe_multi(program.get(), {.path = "/", .offsets = offset});
  return !link.valid() && errno == EBADF;
}

}  // namespace flowtap
