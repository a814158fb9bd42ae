// Opening perf events and giving them programs. Ways in: open_perf_event(), connect_program().
//
// An event is connected by a BPF link, which the kernel has since 5.15, or else by the older
// ioctl. Either way everything ends when the one descriptor that is left is closed, so a killed
// tracer leaves nothing behind.

#include "kernel/perf_event.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "privileges/rights.h"

namespace flowtap {

perf_event_attr new_perf_attr(uint32_t type, uint64_t config) {
  perf_event_attr attr = {};
  attr.type = type;
  attr.size = sizeof attr;
  attr.config = config;
  attr.disabled = 1;
  return attr;
}

static std::string hint_for_event(int code) {
  switch (code) {
    case EPERM:
    case EACCES: return perf_hint();
    case ESRCH: return "the process has gone";
    case EMFILE: return "too many open files: raise the limit with 'ulimit -n', or trace less";
    case ENODEV: return "the CPU is switched off";
    default: return {};
  }
}

Result<Fd> open_perf_event(const perf_event_attr& attr, PerfScope scope, const std::string& what) {
  Fd fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, scope.pid, scope.cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.valid()) return errno_error(what, hint_for_event(errno));
  return fd;
}

Result<uint32_t> perf_source_type(const char* name) {
  std::string path = fmt::format("/sys/bus/event_source/devices/{}/type", name);
  std::optional<std::string> text = read_file(path);
  std::optional<int64_t> type = text ? parse_number(trim(*text)) : std::nullopt;
  if (type) return static_cast<uint32_t>(*type);
  return Error{fmt::format("this kernel has no {}s", name), 0,
               fmt::format("it was built without them: {} is missing", path)};
}

// Names are counted first of all. The offset lies behind every function, so that nothing is made,
// which would take milliseconds, as reading /proc/kallsyms does.
bool kernel_has_several(const std::string& module, const std::string& function) {
  Result<uint32_t> type = perf_source_type("kprobe");
  if (!type) return false;
  perf_event_attr attr = new_perf_attr(*type, 0);
  bool is_kernel = module.empty() || module == "vmlinux";
  std::string name = is_kernel ? function : fmt::format("{}:{}", module, function);
  attr.kprobe_func = reinterpret_cast<uint64_t>(name.c_str());
  attr.probe_offset = INT32_MAX;
  Result<Fd> event = open_perf_event(attr, {.pid = -1, .cpu = 0}, "");
  return !event && event.error().code == EADDRNOTAVAIL;
}

Result<Fd> connect_program(int program, const Fd& event, const std::string& what, uint64_t cookie) {
  LIBBPF_OPTS(bpf_link_create_opts, opts);
  opts.perf_event.bpf_cookie = cookie;
  Fd link(::bpf_link_create(program, event.get(), BPF_PERF_EVENT, &opts));
  if (!link.valid() && errno != EINVAL) return errno_error(what, hint_for_event(errno));
  if (!link.valid() && ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) < 0)
    return errno_error(what, hint_for_event(errno));
  if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) < 0)
    return errno_error(what, hint_for_event(errno));
  return link;
}

}  // namespace flowtap
