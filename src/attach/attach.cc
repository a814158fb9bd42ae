// Attaching. Way in: attach(), which picks the attach_<kind> for the probe; here are those of the
// kernel's own events. Everything is held by descriptors alone: there is no state in tracefs that
// would survive a kill.

#include "attach/attach.h"

#include <bpf/bpf.h>

#include "attach/attach_kinds.h"
#include "base/text.h"
#include "kernel/kprobe_multi.h"
#include "kernel/machine.h"
#include "kernel/tracefs.h"
#include "privileges/rights.h"

namespace flowtap {

PerfScope anywhere() { return {.pid = -1, .cpu = online_cpus().front()}; }

Error link_error(const AttachRequest& request) {
  return errno_error(request.what(), errno == EPERM ? permission_hint() : "");
}

Result<Attachment> attach_perf_event(const AttachRequest& request, const perf_event_attr& attr,
                                     PerfScope scope) {
  Attachment attachment;
  Result<Fd> event = open_perf_event(attr, scope, request.what());
  if (!event) return event.error();
  Result<Fd> link = connect_program(request.fd, *event, request.what(), request.point.cookie);
  if (!link) return link.error();
  // Without links the event itself is what holds the program.
  bool has_link = link->valid();
  attachment.links.push_back(has_link ? std::move(*link) : std::move(*event));
  if (has_link) attachment.events.push_back(std::move(*event));
  return attachment;
}

namespace {

Attachment held_by(Fd link) {
  Attachment attachment;
  attachment.links.push_back(std::move(link));
  return attachment;
}

// --- tracepoints --------------------------------------------------------------------------------

Result<uint64_t> tracepoint_id(const AttachRequest& request) {
  Result<Tracefs> tracefs =
      request.options.tracefs.empty() ? Tracefs::find() : Tracefs(request.options.tracefs);
  if (!tracefs) return tracefs.error();
  std::string path = fmt::format("{}/events/{}/{}/id", tracefs->directory(), request.point.target,
                                 request.point.function);
  std::optional<std::string> text = read_file(path);
  std::optional<int64_t> id = text ? parse_number(trim(*text)) : std::nullopt;
  if (!id) return errno_error(fmt::format("{}: cannot read '{}'", request.what(), path));
  return static_cast<uint64_t>(*id);
}

Result<Attachment> attach_tracepoint(const AttachRequest& request) {
  Result<uint64_t> id = tracepoint_id(request);
  if (!id) return id.error();
  perf_event_attr attr = new_perf_attr(PERF_TYPE_TRACEPOINT, *id);
  attr.sample_period = 1;
  attr.wakeup_events = 1;
  return attach_perf_event(request, attr, anywhere());
}

// A program with BTF knows its tracepoint since it was loaded; one without goes by the name.
Result<Attachment> attach_raw_tracepoint(const AttachRequest& request) {
  bool has_btf = request.program.type == ProgramType::BtfTracepoint;
  const char* name = has_btf ? nullptr : request.point.function.c_str();
  Fd link(::bpf_raw_tracepoint_open(name, request.fd));
  if (!link.valid()) return link_error(request);
  return held_by(std::move(link));
}

// --- iterators ----------------------------------------------------------------------------------

std::string pin_hint(int code) {
  switch (code) {
    case EEXIST: return "there is such a file already: remove it, or choose another name";
    case EPERM:
    case EINVAL: return "is the file system there? mount -t bpf bpf /sys/fs/bpf";
    default: return {};
  }
}

// Whoever reads the file that an iterator is pinned to makes it run.
Result<Attachment> attach_iter(const AttachRequest& request) {
  Fd link(::bpf_link_create(request.fd, 0, BPF_TRACE_ITER, nullptr));
  if (!link.valid()) return link_error(request);
  const std::string& name = request.point.pin;
  std::string pin = name.empty() ? "" : "/sys/fs/bpf/" + name;
  if (!pin.empty() && ::bpf_obj_pin(link.get(), pin.c_str()) < 0)
    return errno_error(fmt::format("cannot pin an iterator to '{}'", pin), pin_hint(errno));
  Attachment attachment = held_by(std::move(link));
  attachment.pin = std::move(pin);
  return attachment;
}

}  // namespace

Result<Attachment> attach(const Program& program, const AttachPoint& point, int program_fd,
                          const AttachOptions& options) {
  AttachRequest request{program, point, program_fd, options};
  bool is_trampoline = program.type == ProgramType::Fentry || program.type == ProgramType::Fexit;
  switch (request.row().family) {
    case ProbeFamily::Special:
    case ProbeFamily::Self:
    case ProbeFamily::Named: return Attachment();
    case ProbeFamily::Function:
      return is_trampoline ? attach_trampoline(request) : attach_kprobe(request);
    case ProbeFamily::UserFunction:
    case ProbeFamily::Marker: return attach_uprobe(request);
    case ProbeFamily::Tracepoint: return attach_tracepoint(request);
    case ProbeFamily::RawTracepoint: return attach_raw_tracepoint(request);
    case ProbeFamily::Clock: return attach_clock(request);
    case ProbeFamily::Counter: return attach_counter(request);
    case ProbeFamily::Watchpoint: return attach_watchpoint(request);
    case ProbeFamily::Iterator: return attach_iter(request);
  }
  UNREACHABLE("a probe family that nobody attaches");
}

bool can_attach_together(const AttachPoint& a, const AttachPoint& b, const AttachOptions& options) {
  if (a.kind != b.kind) return false;
  if (probe_row(a.kind).has(kUserSpace)) return options.uprobe_multi && a.target == b.target;
  return is_plain_kprobe(a) && is_plain_kprobe(b);
}

Result<Attachment> attach_together(const Program& program,
                                   std::span<const AttachPoint* const> points, int program_fd,
                                   const AttachOptions& options) {
  AttachRequest request{program, *points[0], program_fd, options};
  bool is_user = probe_row(request.point.kind).has(kUserSpace);
  return is_user ? attach_uprobes(request, points) : attach_kprobes(request, points);
}

}  // namespace flowtap
