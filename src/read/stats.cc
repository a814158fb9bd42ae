// Run counts and times of programs; see stats.h.

#include "read/stats.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "privileges/rights.h"

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

uint64_t kernel_memory(int fd) {
  std::string text = read_file(fmt::format("/proc/self/fdinfo/{}", fd)).value_or("");
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with("memlock:"))
      return std::strtoull(line.c_str() + std::strlen("memlock:"), nullptr, 10);
  return 0;
}

namespace {

// struct bpf_link_info as of Linux 6.7, newer than the headers we build with. A kernel that knows
// less of it leaves the rest alone.
struct LinkInfo {
  uint32_t type, id, program_id, unused;
  union {
    struct {
      uint64_t addresses;
      uint32_t count, flags;
      uint64_t missed;
    } kprobe_multi;
    struct {
      uint32_t type, unused;
      uint64_t name;
      uint32_t name_length, offset;
      uint64_t address, missed;
    } perf_event;
  };
};

constexpr uint32_t kPerfEventLink = 7, kKprobeMultiLink = 8;  // BPF_LINK_TYPE_*
constexpr uint32_t kKprobeEvent = 3, kKretprobeEvent = 4;     // BPF_PERF_EVENT_*

}  // namespace

uint64_t count_missed(int link_fd) {
  LinkInfo info = {};
  uint32_t size = sizeof info;
  if (::bpf_obj_get_info_by_fd(link_fd, &info, &size) < 0) return 0;
  if (info.type == kKprobeMultiLink) return info.kprobe_multi.missed;
  bool is_function =
      info.perf_event.type == kKprobeEvent || info.perf_event.type == kKretprobeEvent;
  return info.type == kPerfEventLink && is_function ? info.perf_event.missed : 0;
}

}  // namespace flowtap
