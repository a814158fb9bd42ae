// Session: loading and attaching; loop.cc has the rest. Ways in: Session::load(), attach(),
// loop(), or run() for all three. The order of things:
//
//   1. begin probes run, one after the other
//   2. the others are attached; those that fire newest first in reverse, see attach/attach.h
//   3. the number of probes is written, iterators go through what is there already, and the command
//      of -c is let go
//   4. records are handled until a signal, exit(), the end of the process, or the end of a script
//      that waits for nothing
//   5. everything is detached, what is left in the ring buffer is handled, end probes run
//   6. maps are printed, and what was lost
//
// Signals are held back from step 1 on, so that whoever saw the line of step 3 can send one.

#include "runtime/session.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "arch/arch.h"
#include "attach/detach.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "kernel/run_program.h"
#include "runtime/entry_stop.h"
#include "runtime/session_state.h"

namespace flowtap {
namespace {

constexpr const char* kNotifyVariable = "__BPFTRACE_NOTIFY_PROBES_ATTACHED";

// The table that all rows of the program belong to.
std::optional<TableId> only_table(const Image& image) {
  std::optional<TableId> found;
  for (const Event& event : image.events) {
    if (event.kind != EventKind::Row) continue;
    if (found && *found != event.table) return std::nullopt;
    found = event.table;
  }
  return found;
}

Result<Fd> watch_process(pid_t pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid())
    return errno_error(fmt::format("cannot watch process {}", pid),
                       errno == EINVAL ? "it is a thread: give the id of its process" : "");
  return fd;
}

// One descriptor per attach point and CPU: a wildcard needs more than the usual 1024.
void raise_file_limit() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Status Session::State::set_gate(Gate gate) {
  if (parts.image.gate < 0) return Done{};
  const uint32_t key = 0;
  int fd = loaded.maps[static_cast<size_t>(parts.image.gate)].get();
  if (::bpf_map_update_elem(fd, &key, &gate, BPF_ANY) < 0)
    return errno_error("cannot start or stop the probes");
  return Done{};
}

// Detaches everything; what it gives is to be closed at leisure.
std::vector<Fd> Session::State::let_go() {
  bool is_gate_closed = !attached.empty() && parts.image.gate >= 0 && set_gate(Gate::Over);
  std::vector<Attachment> attachments;
  for (Attached& one : attached) {
    one.attachment.is_gated &= is_gate_closed;
    attachments.push_back(std::move(one.attachment));
  }
  attached.clear();
  return detach(std::move(attachments));
}

// Early ends come here with everything still attached.
Session::State::~State() {
  iterators.reset();  // its thread uses the links
  std::vector<Fd> rest = let_go();
  std::move(rest.begin(), rest.end(), std::back_inserter(leftovers));
  close_in_background(std::move(leftovers));
}

// --- load ----------------------------------------------------------------------------------------

Status Session::State::open(std::optional<Refusal>* refusal) {
  if (options.pid) {
    Result<Fd> watched = watch_process(*options.pid);
    if (!watched) return watched.error();
    process = std::move(*watched);
  }
  Result<LoadedImage> result = flowtap::load(parts.image, options.load, refusal);
  if (!result) return result.error();
  loaded = std::move(*result);
  for (const LeftOutProgram& one : loaded.left_out) {
    refused_places.take_all(parts.image.programs[one.program], one);
    say(fmt::format("left out: {}", one.error.message()));
  }
  if (parts.image.unwind) {
    if (Status opened = open_unwind_tables(); !opened) return opened.error();
  }
  actions.emplace(ActionInput{.image = parts.image,
                              .sources = parts.sources,
                              .maps = loaded.maps,
                              .writer = parts.writer,
                              .values = parts.values,
                              .max_cat_bytes = options.max_cat_bytes,
                              .unwatch = [this](uint64_t address) { unwatch(address); },
                              .unwind =
                                  [this](pid_t pid, ProcessLayout layout) {
                                    if (unwind) unwind->add(pid, layout);
                                  },
                              .warns = options.warns});
  sides.emplace(KernelMaps{parts.image, loaded.maps});
  losses.emplace(
      Losses::Input{parts.image, parts.sources, loaded, parts.writer, options.warns, options.tool});
  if (parts.image.ringbuf >= 0) {
    int fd = loaded.maps[static_cast<size_t>(parts.image.ringbuf)].get();
    Result<RingBuffer> opened = RingBuffer::open(fd, [this](Bytes record) { take(record); });
    if (!opened) return opened.error();
    ring.emplace(std::move(*opened));
  }
  if (parts.image.exit_cell >= 0) {
    int fd = loaded.maps[static_cast<size_t>(parts.image.exit_cell)].get();
    Result<ExitCell> opened = ExitCell::open(fd);
    if (!opened) return opened.error();
    exit_cell.emplace(std::move(*opened));
  }
  if (options.stats) {
    Result<Fd> enabled = enable_run_stats();
    if (!enabled) return enabled.error();
    stats = std::move(*enabled);
  }
  return Done{};
}

Status Session::State::open_unwind_tables() {
  Result<UnwindTables> opened = UnwindTables::open(parts.image, loaded.maps);
  if (!opened) return opened.error();
  unwind.emplace(std::move(*opened));
  std::vector<pid_t> pids = options.unwind_pids;
  if (options.pid) pids.push_back(*options.pid);
  for (pid_t pid : pids)
    if (!unwind->add(pid))
      return Error{
          fmt::format("there are no unwind tables for process {}", pid), 0,
          fmt::format("it has ended, belongs to the kernel, or is not for {}", host_arch().name)};
  say(fmt::format("unwind tables of {} have {}",
                  pids.size() == 1 ? "1 process" : fmt::format("{} processes", pids.size()),
                  counted(unwind->rows(), "row")));
  return Done{};
}

// --- attach --------------------------------------------------------------------------------------

// Runs the programs of a kind that flowtap runs itself, in the order of the script.
Status Session::State::run_all(ProbeKind kind, std::string_view self_event) {
  for (size_t i = 0; i < parts.image.programs.size(); i++)
    for (const AttachPoint& point : parts.image.programs[i].attach) {
      if (point.kind != kind || point.self_event != self_event) continue;
      say(fmt::format("running '{}'", point.name));
      Result<uint32_t> run = run_program(loaded.programs[i].get());
      if (!run) return run.error();
    }
  return Done{};
}

// Points that one call can attach, or a single one.
Status Session::State::attach_points(size_t program, std::span<const AttachPoint* const> points) {
  const Program& code = parts.image.programs[program];
  int fd = loaded.programs[program].get();
  AttachOptions how{.pid = options.child ? std::optional(options.child->pid()) : options.pid,
                    .uprobe_multi = loaded.uprobe_multi,
                    .kprobe_multi = loaded.kprobe_multi};
  std::string how_made = code.made_as.empty() ? "" : fmt::format(" as {}", code.made_as);
  for (const AttachPoint* point : points)
    say(fmt::format("attaching to '{}'{}", point->name, how_made));
  Result<Attachment> done = points.size() > 1 ? attach_together(code, points, fd, how)
                                              : flowtap::attach(code, *points[0], fd, how);
  if (done) {
    done->is_gated = code.is_gated;
    attached.push_back({points[0], points.size(), std::move(*done)});
    traced_files.note(*points[0]);
    return Done{};
  }
  if (points.size() == 1) {
    bool is_forgiven = options.forgive && options.forgive(*points[0], done.error());
    if (is_forgiven) return Done{};
    // The script is compiled once more as it was written, if this was not.
    bool is_final = !options.has_fallback || code.made_as.empty();
    if (!is_final || !refused_places.take(*points[0], done.error())) return done.error();
    say(fmt::format("left out: {}", done.error().message()));
    return Done{};
  }
  // One of them spoils it for all, and the kernel does not say which: it is alone after some
  // halving, and can be named.
  size_t half = points.size() / 2;
  Status first = attach_points(program, points.first(half));
  return first ? attach_points(program, points.subspan(half)) : first;
}

// All points of a program that are to be attached in this round. The kernel runs several programs
// on one event in the order of attaching for some kinds, and newest first for others. Those are
// attached in reverse, so that blocks run as the script has them.
Status Session::State::attach_program(size_t program, bool is_reversed) {
  if (!loaded.programs[program].valid()) return Done{};
  std::vector<const AttachPoint*> points;
  for (const AttachPoint& point : parts.image.programs[program].attach) {
    const ProbeRow& row = probe_row(point.kind);
    if (!row.has(kRunByFlowtap) && row.has(kNewestFirst) == is_reversed) points.push_back(&point);
  }
  AttachOptions how{.uprobe_multi = loaded.uprobe_multi};
  for (size_t first = 0, end = 0; first < points.size(); first = end) {
    take_signals();
    if (is_over) return Done{};
    end = first + 1;
    while (end < points.size() && can_attach_together(*points[first], *points[end], how)) end++;
    Status done = attach_points(program, std::span(points).subspan(first, end - first));
    if (!done) return done.error();
  }
  return Done{};
}

bool Session::State::may_end_in_begin() const {
  return std::any_of(parts.image.programs.begin(), parts.image.programs.end(),
                     [](const Program& program) {
                       return program.may_exit && !program.attach.empty() &&
                              program.attach[0].kind == ProbeKind::Begin;
                     });
}

Status Session::State::attach_all() {
  raise_file_limit();
  size_t count = parts.image.programs.size();
  for (size_t i = 0; i < count; i++) {
    Status done = attach_program(i, false);
    if (!done) return done.error();
  }
  for (size_t i = count; i-- > 0;) {
    Status done = attach_program(i, true);
    if (!done) return done.error();
  }
  if (is_over) return Done{};
  if (Status opened = set_gate(Gate::Open); !opened) return opened.error();
  return refused_places.report(parts.image, parts.sources, parts.writer, options.warns);
}

// Tests and benchmarks are not attached unless asked for by their own options.
uint64_t Session::State::count_probes() const {
  uint64_t count = 0;
  for (const Attached& one : attached) count += one.points;
  for (const Program& program : parts.image.programs)
    for (const AttachPoint& point : program.attach)
      if (probe_row(point.kind).is_special()) count++;
  return count;
}

// The command is held where its libraries are mapped and it has not run yet. If that is refused its
// tables come when it is first met, as those of others do.
Status Session::State::resume_with_tables() {
  Result<EntryStop> stop = EntryStop::watch(options.child->pid());
  if (!stop) say(stop.error().message());
  Status resumed = options.child->resume();
  if (resumed && stop && stop->wait()) {
    unwind->add(options.child->pid());
    if (options.look_at_process) options.look_at_process(options.child->pid());
  }
  return resumed;
}

Status Session::State::start() {
  if (!options.quiet) parts.writer.attached_probes(count_probes());
  // A table that stays empty still says what it would have shown.
  if (std::optional<TableId> table = only_table(parts.image)) {
    const Table& only = parts.image.tables[*table];
    if (only.sorted_by < 0) parts.writer.heading(only);
  }
  if (!options.dry_run && !is_over && !waits_for_nothing()) {
    Status visited = visit_what_is_there();
    if (!visited) return visited.error();
  }
  if (options.child && !options.dry_run && !is_over) {
    Status resumed = unwind ? resume_with_tables() : options.child->resume();
    if (!resumed) return resumed.error();
  }
  if (std::getenv(kNotifyVariable)) {
    parts.writer.flush();
    std::string line = fmt::format("{}\n", kNotifyVariable);
    ssize_t ignored = ::write(STDOUT_FILENO, line.data(), line.size());
    (void)ignored;
  }
  return Done{};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::load(const SessionParts& parts, RunOptions options,
                              std::optional<Refusal>* refusal) {
  auto state = std::make_unique<State>(parts, std::move(options));
  Status opened = state->open(refusal);
  if (!opened) return opened.error();
  return Session(std::move(state));
}

Status Session::attach() {
  Result<Signals> held = Signals::hold();
  if (!held) return held.error();
  state_->signals.emplace(std::move(*held));
  if (!state_->options.dry_run) {
    Status begun = state_->run_all(ProbeKind::Begin);
    if (!begun) return begun.error();
    if (state_->may_end_in_begin() && !state_->options.has_fallback) {
      // A script that ends here has nothing to wait for; attaching would only take time.
      if (Status drained = state_->drain(); !drained) return drained.error();
      if (state_->actions->has_left()) return Done{};
    }
  }
  Status done = state_->attach_all();
  if (done) done = state_->start();
  if (done || state_->options.has_fallback) return done;
  // What begin probes have written is not lost when the rest fails.
  Status drained = state_->drain();
  return drained ? done : drained;
}

Result<int> Session::loop() {
  if (state_->options.dry_run) {
    state_->parts.writer.flush();
    return 0;
  }
  Status waited = state_->wait();
  if (!waited) return waited.error();
  Status finished = state_->finish();
  if (!finished) return finished.error();
  return state_->exit_code();
}

Result<uint32_t> Session::run(size_t program, uint64_t times) {
  uint64_t errors = state_->actions->errors();
  state_->earlier_code = 0;
  bool has_failed = false;
  uint32_t returned = 0;
  for (uint64_t i = 0; i < times && !has_failed && returned == 0; i++) {
    Result<uint32_t> result = run_program(state_->loaded.programs.at(program).get());
    if (!result) return result.error();
    returned = *result;
    Status drained = state_->drain();
    if (!drained) return drained.error();
    state_->begin_phase();
    has_failed = state_->actions->errors() > errors || state_->earlier_code != 0;
  }
  has_failed |= state_->losses->report_all();
  return returned == 0 && has_failed ? 1 : returned;
}

Result<std::vector<ProgramStats>> Session::stats() const {
  std::vector<ProgramStats> all;
  for (const Fd& program : state_->loaded.programs) {
    Result<ProgramStats> one =
        program.valid() ? read_stats(program.get()) : Result<ProgramStats>(ProgramStats{});
    if (!one) return one.error();
    all.push_back(*one);
  }
  return all;
}

Session::KernelMemory Session::kernel_memory() const {
  KernelMemory all;
  for (const Fd& map : state_->loaded.maps)
    all.maps.push_back(map.valid() ? flowtap::kernel_memory(map.get()) : 0);
  for (const Fd& program : state_->loaded.programs)
    if (program.valid()) all.programs += flowtap::kernel_memory(program.get());
  return all;
}

Result<int> run(const SessionParts& parts, const RunOptions& options,
                std::optional<Refusal>* refusal) {
  Result<Session> session = Session::load(parts, options, refusal);
  if (!session) return session.error();
  Status attached = session->attach();
  if (!attached) return attached.error();
  return session->loop();
}

}  // namespace flowtap
