// Attaching to clocks, counters and watchpoints: perf events that belong to a CPU or to a thread,
// so that a probe on the whole system needs one per CPU and a probe on a process one per thread.

#include <linux/hw_breakpoint.h>

#include "arch/arch.h"
#include "attach/attach_kinds.h"
#include "base/directory.h"
#include "base/text.h"
#include "kernel/machine.h"

namespace flowtap {
namespace {

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  Result<std::vector<std::string>> names = names_in(fmt::format("/proc/{}/task", pid));
  if (!names) return {pid};
  for (const std::string& name : *names)
    if (std::optional<int64_t> thread = parse_number(name))
      threads.push_back(static_cast<pid_t>(*thread));
  if (threads.empty()) threads.push_back(pid);
  return threads;
}

// These events are closed at once, and their links hold them.
Status add_event(const AttachRequest& request, const perf_event_attr& attr, PerfScope scope,
                 Attachment& attachment) {
  Result<Attachment> one = attach_perf_event(request, attr, scope);
  if (!one) return one.error();
  attachment.links.push_back(std::move(one->links.front()));
  return Done{};
}

Result<Attachment> attach_to_cpus(const AttachRequest& request, const perf_event_attr& attr) {
  Attachment attachment;
  for (int cpu : online_cpus()) {
    Status added = add_event(request, attr, {.pid = -1, .cpu = cpu}, attachment);
    if (!added) return added.error();
  }
  return attachment;
}

// An event counts for one thread. Those that the process starts later inherit it.
Result<Attachment> attach_to_threads(const AttachRequest& request, perf_event_attr attr,
                                     pid_t pid) {
  Attachment attachment;
  attr.inherit = 1;
  attr.inherit_thread = 1;
  for (pid_t thread : threads_of(pid)) {
    PerfScope scope{.pid = thread, .cpu = -1};
    Status added = add_event(request, attr, scope, attachment);
    // inherit_thread is new in Linux 5.13, and some events cannot be inherited at all.
    if (!added && added.error().code == EINVAL && attr.inherit) {
      attr.inherit = attr.inherit_thread = 0;
      added = add_event(request, attr, scope, attachment);
    }
    bool has_gone = !added && added.error().code == ESRCH && thread != pid;
    if (!added && !has_gone) return added.error();
  }
  return attachment;
}

Result<Attachment> attach_everywhere(const AttachRequest& request, const perf_event_attr& attr) {
  if (request.pid()) return attach_to_threads(request, attr, *request.pid());
  return attach_to_cpus(request, attr);
}

perf_event_attr clock_attr(const AttachPoint& point) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.freq = point.frequency != 0;
  if (point.frequency)
    attr.sample_freq = point.frequency;
  else
    attr.sample_period = point.period_ns;
  return attr;
}

}  // namespace

Result<Attachment> attach_clock(const AttachRequest& request) {
  perf_event_attr attr = clock_attr(request.point);
  if (!request.row().has(kOneCpu)) return attach_everywhere(request, attr);
  Attachment attachment;
  Status added = add_event(request, attr, anywhere(), attachment);
  if (!added) return added.error();
  return attachment;
}

Result<Attachment> attach_counter(const AttachRequest& request) {
  const PerfEvents& events = *request.row().events;
  perf_event_attr attr = new_perf_attr(events.type, request.point.perf_config);
  attr.sample_period = request.point.event_count;
  Result<Attachment> attachment = attach_everywhere(request, attr);
  bool is_missing =
      !attachment && (attachment.error().code == ENOENT || attachment.error().code == EOPNOTSUPP);
  if (is_missing && !events.why_missing.empty())
    return Error{request.what(), attachment.error().code, std::string(events.why_missing)};
  return attachment;
}

static uint32_t breakpoint_type(const std::string& mode) {
  uint32_t type = 0;
  for (char c : mode) {
    if (c == 'r') type |= HW_BREAKPOINT_R;
    if (c == 'w') type |= HW_BREAKPOINT_W;
    if (c == 'x') type |= HW_BREAKPOINT_X;
  }
  return type;
}

Result<Attachment> attach_watchpoint(const AttachRequest& request) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_BREAKPOINT, 0);
  attr.bp_type = breakpoint_type(request.point.mode);
  attr.bp_addr = request.point.watched;
  // The kernel has one length only for execution.
  attr.bp_len = attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : request.point.length;
  attr.sample_period = 1;
  Result<Attachment> attachment = attach_everywhere(request, attr);
  if (!attachment && attachment.error().code == ENOSPC)
    return Error{request.what(), ENOSPC,
                 fmt::format("the processor has only {} watchpoints", host_arch().watchpoints)};
  return attachment;
}

}  // namespace flowtap
