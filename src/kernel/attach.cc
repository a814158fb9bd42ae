// Attaching. Way in: attach(), which picks the attach_<kind> for the probe. Everything is held by
// descriptors alone: there is no state in tracefs that would survive a kill.

#include "kernel/attach.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "builtins/probes.h"
#include "kernel/machine.h"
#include "kernel/perf_event.h"
#include "kernel/rights.h"
#include "kernel/tracefs.h"

namespace flowtap {
namespace {

// What every attach_<kind> gets.
struct Request {
  const Program& program;
  const AttachPoint& point;
  int fd;
  const AttachOptions& options;

  std::string what() const { return fmt::format("cannot attach to '{}'", point.name); }
  std::optional<pid_t> pid() const {
    return probe_row(point.kind).has(kAttachesToPid) ? options.pid : std::nullopt;
  }
};

Result<Attachment> one(Result<Fd> fd) {
  if (!fd) return fd.error();
  Attachment attachment;
  attachment.push_back(std::move(*fd));
  return attachment;
}

Result<Fd> open_and_connect(const Request& request, const perf_event_attr& attr, PerfScope scope) {
  Result<Fd> event = open_perf_event(attr, scope, request.what());
  if (!event) return event.error();
  return connect_program(request.fd, std::move(*event), request.what());
}

// For events that fire on any CPU wherever they were opened.
PerfScope anywhere() { return {.pid = -1, .cpu = online_cpus().front()}; }

// --- tracepoints --------------------------------------------------------------------------------

Result<uint64_t> tracepoint_id(const Request& request) {
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

Result<Attachment> attach_tracepoint(const Request& request) {
  Result<uint64_t> id = tracepoint_id(request);
  if (!id) return id.error();
  perf_event_attr attr = new_perf_attr(PERF_TYPE_TRACEPOINT, *id);
  attr.sample_period = 1;
  attr.wakeup_events = 1;
  return one(open_and_connect(request, attr, anywhere()));
}

Error link_error(const Request& request) {
  return errno_error(request.what(), errno == EPERM ? permission_hint() : "");
}

// A program with BTF knows its tracepoint since it was loaded; one without goes by the name.
Result<Attachment> attach_raw_tracepoint(const Request& request) {
  bool has_btf = request.program.type == ProgramType::BtfTracepoint;
  const char* name = has_btf ? nullptr : request.point.function.c_str();
  Fd link(::bpf_raw_tracepoint_open(name, request.fd));
  if (!link.valid()) return link_error(request);
  return one(std::move(link));
}

// --- kernel functions and iterators -------------------------------------------------------------

Result<Attachment> attach_trampoline(const Request& request) {
  Fd link(::bpf_raw_tracepoint_open(nullptr, request.fd));
  if (!link.valid()) return link_error(request);
  return one(std::move(link));
}

Result<Attachment> attach_iter(const Request& request) {
  Fd link(::bpf_link_create(request.fd, 0, BPF_TRACE_ITER, nullptr));
  if (!link.valid()) return link_error(request);
  return one(std::move(link));
}

constexpr uint64_t kReturnProbe = 1;  // config:0 of the sources "kprobe" and "uprobe"

Result<Attachment> attach_kprobe(const Request& request) {
  const AttachPoint& point = request.point;
  Result<uint32_t> type = perf_source_type("kprobe");
  if (!type) return Error{request.what() + ": " + type.error().what, 0, type.error().hint};
  perf_event_attr attr =
      new_perf_attr(*type, point.kind == ProbeKind::Kretprobe ? kReturnProbe : 0);
  std::string name = point.function;
  bool is_in_module = !point.target.empty() && point.target != "vmlinux";
  if (is_in_module) name = fmt::format("{}:{}", point.target, point.function);
  if (point.has_address) {
    attr.kprobe_addr = point.address;
  } else {
    attr.kprobe_func = reinterpret_cast<uint64_t>(name.c_str());
    attr.probe_offset = point.offset;
  }
  Result<Fd> fd = open_and_connect(request, attr, anywhere());
  // Linux 6.6 and 6.7 look for the name with its module and do not find it.
  if (!fd && fd.error().code == ENOENT && is_in_module) {
    attr.kprobe_func = reinterpret_cast<uint64_t>(point.function.c_str());
    fd = open_and_connect(request, attr, anywhere());
  }
  return one(std::move(fd));
}

// --- user functions -----------------------------------------------------------------------------

constexpr int kReferenceCounterShift = 32;  // config:32-63 of the source "uprobe"

Result<Attachment> attach_uprobe(const Request& request) {
  const AttachPoint& point = request.point;
  Result<uint32_t> type = perf_source_type("uprobe");
  if (!type) return Error{request.what() + ": " + type.error().what, 0, type.error().hint};
  uint64_t config = point.kind == ProbeKind::Uretprobe ? kReturnProbe : 0;
  config |= point.semaphore_offset << kReferenceCounterShift;
  perf_event_attr attr = new_perf_attr(*type, config);
  attr.uprobe_path = reinterpret_cast<uint64_t>(point.target.c_str());
  attr.probe_offset = point.file_offset;
  // A process means all its threads here: the breakpoint belongs to the memory they share.
  PerfScope scope = anywhere();
  if (request.pid()) scope = {.pid = *request.pid(), .cpu = -1};
  return one(open_and_connect(request, attr, scope));
}

// --- counted events -----------------------------------------------------------------------------

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    std::optional<int64_t> thread = parse_number(entry.path().filename().string());
    if (thread) threads.push_back(static_cast<pid_t>(*thread));
  }
  if (threads.empty()) threads.push_back(pid);
  return threads;
}

Result<Attachment> attach_to_cpus(const Request& request, const perf_event_attr& attr) {
  Attachment attachment;
  for (int cpu : online_cpus()) {
    Result<Fd> fd = open_and_connect(request, attr, {.pid = -1, .cpu = cpu});
    if (!fd) return fd.error();
    attachment.push_back(std::move(*fd));
  }
  return attachment;
}

// An event counts for one thread. Those that the process starts later inherit it.
Result<Attachment> attach_to_threads(const Request& request, perf_event_attr attr, pid_t pid) {
  Attachment attachment;
  attr.inherit = 1;
  attr.inherit_thread = 1;
  for (pid_t thread : threads_of(pid)) {
    Result<Fd> fd = open_and_connect(request, attr, {.pid = thread, .cpu = -1});
    // inherit_thread is new in Linux 5.13, and some events cannot be inherited at all.
    if (!fd && fd.error().code == EINVAL && attr.inherit) {
      attr.inherit = attr.inherit_thread = 0;
      fd = open_and_connect(request, attr, {.pid = thread, .cpu = -1});
    }
    bool has_gone = !fd && fd.error().code == ESRCH && thread != pid;
    if (has_gone) continue;
    if (!fd) return fd.error();
    attachment.push_back(std::move(*fd));
  }
  return attachment;
}

Result<Attachment> attach_everywhere(const Request& request, const perf_event_attr& attr) {
  if (request.pid()) return attach_to_threads(request, attr, *request.pid());
  return attach_to_cpus(request, attr);
}

perf_event_attr clock_attr(const AttachPoint& point) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.freq = point.is_frequency;
  if (point.is_frequency)
    attr.sample_freq = point.period;
  else
    attr.sample_period = point.period;
  return attr;
}

Result<Attachment> attach_profile(const Request& request) {
  return attach_everywhere(request, clock_attr(request.point));
}

Result<Attachment> attach_interval(const Request& request) {
  return one(open_and_connect(request, clock_attr(request.point), anywhere()));
}

Result<Attachment> attach_software(const Request& request) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_SOFTWARE, request.point.perf_config);
  attr.sample_period = request.point.period;
  return attach_everywhere(request, attr);
}

Result<Attachment> attach_hardware(const Request& request) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_HARDWARE, request.point.perf_config);
  attr.sample_period = request.point.period;
  Result<Attachment> attachment = attach_everywhere(request, attr);
  bool is_missing =
      !attachment && (attachment.error().code == ENOENT || attachment.error().code == EOPNOTSUPP);
  if (is_missing)
    return Error{request.what(), attachment.error().code,
                 "this machine has no such counter; virtual machines often have none"};
  return attachment;
}

uint32_t breakpoint_type(const std::string& mode) {
  uint32_t type = 0;
  for (char c : mode) {
    if (c == 'r') type |= HW_BREAKPOINT_R;
    if (c == 'w') type |= HW_BREAKPOINT_W;
    if (c == 'x') type |= HW_BREAKPOINT_X;
  }
  return type;
}

Result<Attachment> attach_watchpoint(const Request& request) {
  perf_event_attr attr = new_perf_attr(PERF_TYPE_BREAKPOINT, 0);
  attr.bp_type = breakpoint_type(request.point.mode);
  attr.bp_addr = request.point.address;
  // The kernel has one length only for execution.
  attr.bp_len = attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : request.point.length;
  attr.sample_period = 1;
  Result<Attachment> attachment = attach_everywhere(request, attr);
  if (!attachment && attachment.error().code == ENOSPC)
    return Error{request.what(), ENOSPC, "the processor has only a few watchpoints (4 on x86)"};
  return attachment;
}

constexpr size_t kFewAttachments = 64;
constexpr size_t kDetachThreads = 32;

}  // namespace

Result<Attachment> attach(const Program& program, const AttachPoint& point, int program_fd,
                          const AttachOptions& options) {
  Request request{program, point, program_fd, options};
  switch (point.kind) {
    case ProbeKind::Begin:
    case ProbeKind::End:
    case ProbeKind::Self:
    case ProbeKind::Test:
    case ProbeKind::Bench: return Attachment();
    case ProbeKind::Kprobe:
    case ProbeKind::Kretprobe: return attach_kprobe(request);
    case ProbeKind::Fentry:
    case ProbeKind::Fexit: return attach_trampoline(request);
    case ProbeKind::Uprobe:
    case ProbeKind::Uretprobe:
    case ProbeKind::Usdt: return attach_uprobe(request);
    case ProbeKind::Tracepoint: return attach_tracepoint(request);
    case ProbeKind::RawTracepoint: return attach_raw_tracepoint(request);
    case ProbeKind::Profile: return attach_profile(request);
    case ProbeKind::Interval: return attach_interval(request);
    case ProbeKind::Software: return attach_software(request);
    case ProbeKind::Hardware: return attach_hardware(request);
    case ProbeKind::Watchpoint: return attach_watchpoint(request);
    case ProbeKind::Iter: return attach_iter(request);
  }
  UNREACHABLE("a probe kind that nobody attaches");
}

bool fires_newest_first(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::Kprobe:
    case ProbeKind::Fentry:
    case ProbeKind::Fexit:
    case ProbeKind::Uprobe:
    case ProbeKind::Uretprobe:
    case ProbeKind::Usdt:
    case ProbeKind::Software: return true;
    default: return false;
  }
}

void detach(std::vector<Attachment> attachments) {
  std::vector<Fd> all;
  for (Attachment& attachment : attachments)
    std::move(attachment.begin(), attachment.end(), std::back_inserter(all));
  if (all.size() <= kFewAttachments) return;
  std::vector<std::thread> threads;
  for (size_t first = 0; first < kDetachThreads; first++)
    threads.emplace_back([&all, first] {
      for (size_t i = first; i < all.size(); i += kDetachThreads) all[i].reset();
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace flowtap
