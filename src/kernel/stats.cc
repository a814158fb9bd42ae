// Run counts and times of programs; see stats.h.

#include "kernel/stats.h"

#include <bpf/bpf.h>

#include "kernel/rights.h"

namespace flowtap {

Result<Fd> enable_run_stats() {
  Fd fd(::bpf_enable_stats(BPF_STATS_RUN_TIME));
  if (!fd.valid())
    return errno_error("cannot measure the run time of programs",
                       errno == EPERM ? permission_hint() : "this needs Linux 5.8 or later");
  return fd;
}

Result<ProgramStats> read_stats(int program_fd) {
  bpf_prog_info info = {};
  uint32_t size = sizeof info;
  if (::bpf_obj_get_info_by_fd(program_fd, &info, &size) < 0)
    return errno_error("cannot read what the kernel counted about a program");
  return ProgramStats{info.run_cnt, info.run_time_ns, info.recursion_misses};
}

}  // namespace flowtap
