// Attaching to user programs. Ways in: attach_uprobe() for one place, attach_uprobes() for many.
//
// A breakpoint is put into the file, so to say: into every process that has it mapped now or will.
// There are two ways to ask for it. A link of type uprobe_multi takes any number of places and
// waits once for all when it is closed; the older perf event takes one, and a tenth of a second to
// close.

#include "attach/attach_kinds.h"
#include "kernel/uprobe_multi.h"
#include "privileges/rights.h"

namespace flowtap {
namespace {

constexpr int kReferenceCounterShift = 32;  // config:32-63 of the perf source "uprobe"

// A process means all its threads: the breakpoint belongs to the memory they share.
Result<Attachment> attach_one_uprobe(const AttachRequest& request) {
  const AttachPoint& point = request.point;
  Result<uint32_t> type = perf_source_type("uprobe");
  if (!type) return Error{request.what() + ": " + type.error().what, 0, type.error().hint};
  uint64_t config = request.row().has(kHasRetval) ? kPerfReturnProbe : 0;
  config |= point.semaphore_offset << kReferenceCounterShift;
  perf_event_attr attr = new_perf_attr(*type, config);
  attr.uprobe_path = reinterpret_cast<uint64_t>(point.target.c_str());
  attr.probe_offset = point.file_offset;
  PerfScope scope = anywhere();
  if (request.pid()) scope = {.pid = *request.pid(), .cpu = -1};
  return attach_perf_event(request, attr, scope);
}

std::string hint_for_uprobe(int code) {
  switch (code) {
    case EPERM: return permission_hint();
    case ESRCH: return "the process has gone";
    case kNotSupportedByKernel: return "the kernel does not put uprobes on every instruction";
    case EINVAL: return "is there an instruction at this place?";
    default: return {};
  }
}

}  // namespace

Result<Attachment> attach_uprobe(const AttachRequest& request) {
  if (!request.options.uprobe_multi) return attach_one_uprobe(request);
  const AttachPoint* points[] = {&request.point};
  return attach_uprobes(request, points);
}

Result<Attachment> attach_uprobes(const AttachRequest& request,
                                  std::span<const AttachPoint* const> points) {
  std::vector<uint64_t> offsets, counters, cookies;
  bool has_counters = false;
  for (const AttachPoint* point : points) {
    offsets.push_back(point->file_offset);
    counters.push_back(point->semaphore_offset);
    cookies.push_back(point->cookie);
    has_counters |= point->semaphore_offset != 0;
  }
  if (!has_counters) counters.clear();
  Fd link = link_uprobe_multi(request.fd, {.path = request.point.target,
                                           .offsets = offsets,
                                           .counter_offsets = counters,
                                           .cookies = cookies,
                                           .is_return = request.row().has(kHasRetval),
                                           .pid = request.pid().value_or(0)});
  if (!link.valid()) return errno_error(request.what(), hint_for_uprobe(errno));
  Attachment attachment;
  attachment.links.push_back(std::move(link));
  return attachment;
}

}  // namespace flowtap
