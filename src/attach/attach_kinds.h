#pragma once
// What the parts of the attacher share. Only attach*.cc include it.

#include <fmt/format.h>

#include "attach/attach.h"
#include "builtins/probes.h"
#include "kernel/perf_event.h"

namespace flowtap {

struct AttachRequest {
  const Program& program;
  const AttachPoint& point;
  int fd;
  const AttachOptions& options;

  const ProbeRow& row() const { return probe_row(point.kind); }
  std::string what() const { return fmt::format("cannot attach to '{}'", point.name); }
  std::optional<pid_t> pid() const {
    return row().has(kAttachesToPid) ? options.pid : std::nullopt;
  }
};

// For events that fire on any CPU wherever they were opened.
PerfScope anywhere();
Error link_error(const AttachRequest& request);
Result<Attachment> attach_perf_event(const AttachRequest& request, const perf_event_attr& attr,
                                     PerfScope scope);

// attach_functions.cc
Result<Attachment> attach_kprobe(const AttachRequest& request);
Result<Attachment> attach_kprobes(const AttachRequest& request,
                                  std::span<const AttachPoint* const> points);
Result<Attachment> attach_trampoline(const AttachRequest& request);

// attach_user.cc
Result<Attachment> attach_uprobe(const AttachRequest& request);
Result<Attachment> attach_uprobes(const AttachRequest& request,
                                  std::span<const AttachPoint* const> points);

// attach_counted.cc
Result<Attachment> attach_clock(const AttachRequest& request);
Result<Attachment> attach_counter(const AttachRequest& request);
Result<Attachment> attach_watchpoint(const AttachRequest& request);

}  // namespace flowtap
