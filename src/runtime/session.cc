// Session: loading, attaching, looping. Ways in: Session::load(), attach(), loop(), or run() for
// all three. The order of things:
//
//   1. begin probes run, one after the other
//   2. the others are attached; those that fire newest first in reverse, see attach.h
//   3. the command of -c is let go, and the number of probes is written
//   4. records are handled until a signal, exit(), the end of the process, or the end of a script
//      that waits for nothing
//   5. everything is detached, what is left in the ring buffer is handled, end probes run
//   6. maps are printed, and what was lost
//
// Signals are held back from step 1 on, so that whoever saw the line of step 3 can send one.

#include "runtime/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "builtins/probes.h"
#include "kernel/ring_buffer.h"
#include "kernel/run_program.h"
#include "runtime/actions.h"
#include "runtime/iterators.h"
#include "runtime/losses.h"
#include "runtime/map_output.h"
#include "runtime/places.h"
#include "runtime/signals.h"

namespace flowtap {

namespace {

constexpr const char* kNotifyVariable = "__BPFTRACE_NOTIFY_PROBES_ATTACHED";
constexpr int kLossCheckMilliseconds = 1000;

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

struct Session::State {
  State(const SessionParts& parts, RunOptions options)
      : parts(parts), options(std::move(options)) {}

  // --- steps
  Status open(std::optional<Refusal>* refusal);
  Status run_all(ProbeKind kind);
  Status attach_all();
  Status attach_point(size_t program, size_t point);
  Status start();
  Status wait();
  Status finish();
  void write_maps();

  // --- parts of them
  Status drain();
  Status take_some(bool& has_more);
  void take_signals();
  void unwatch(uint64_t address);
  uint64_t count_probes() const;
  bool waits_for_nothing() const;
  void say(const std::string& text) const {
    if (options.say) options.say(text);
  }

  struct Attached {
    const AttachPoint* point;
    Attachment attachment;
  };

  SessionParts parts;
  RunOptions options;
  LoadedImage loaded;
  std::vector<Attached> attached;
  std::optional<Actions> actions;
  std::optional<Losses> losses;
  std::optional<RingBuffer> ring;
  std::optional<Signals> signals;
  std::optional<Iterators> iterators;
  Fd process;  // of -p
  Fd stats;
  bool is_over = false;
};

// --- load
// -----------------------------------------------------------------------------------------

Status Session::State::open(std::optional<Refusal>* refusal) {
  if (options.pid) {
    Result<Fd> watched = watch_process(*options.pid);
    if (!watched) return watched.error();
    process = std::move(*watched);
  }
  Result<LoadedImage> result = flowtap::load(parts.image, options.load, refusal);
  if (!result) return result.error();
  loaded = std::move(*result);
  actions.emplace(ActionInput{.image = parts.image,
                              .sources = parts.sources,
                              .maps = loaded.maps,
                              .writer = parts.writer,
                              .values = parts.values,
                              .max_cat_bytes = options.max_cat_bytes,
                              .unwatch = [this](uint64_t address) { unwatch(address); },
                              .warns = options.warns});
  losses.emplace(Losses::Input{parts.image, parts.sources, loaded, parts.writer, options.warns});
  if (parts.image.ringbuf >= 0) {
    int fd = loaded.maps[static_cast<size_t>(parts.image.ringbuf)].get();
    Result<RingBuffer> opened =
        RingBuffer::open(fd, [this](Bytes record) { actions->take(record); });
    if (!opened) return opened.error();
    ring.emplace(std::move(*opened));
  }
  if (options.stats) {
    Result<Fd> enabled = enable_run_stats();
    if (!enabled) return enabled.error();
    stats = std::move(*enabled);
  }
  return Done{};
}

// --- attach
// ---------------------------------------------------------------------------------------

// Runs the programs of a kind that flowtap runs itself, in the order of the script.
Status Session::State::run_all(ProbeKind kind) {
  for (size_t i = 0; i < parts.image.programs.size(); i++)
    for (const AttachPoint& point : parts.image.programs[i].attach) {
      if (point.kind != kind) continue;
      say(fmt::format("running '{}'", point.name));
      Result<uint32_t> run = run_program(loaded.programs[i].get());
      if (!run) return run.error();
    }
  return Done{};
}

Status Session::State::attach_point(size_t program, size_t number) {
  const Program& code = parts.image.programs[program];
  const AttachPoint& point = code.attach[number];
  if (probe_row(point.kind).has(kRunByFlowtap)) return Done{};
  say(fmt::format("attaching to '{}'", point.name));
  AttachOptions narrow{.pid = options.child ? std::optional(options.child->pid()) : options.pid};
  Result<Attachment> done = flowtap::attach(code, point, loaded.programs[program].get(), narrow);
  if (done) {
    attached.push_back({&point, std::move(*done)});
    return Done{};
  }
  if (options.forgive && options.forgive(point, done.error())) return Done{};
  return done.error();
}

Status Session::State::attach_all() {
  raise_file_limit();
  std::vector<std::pair<size_t, size_t>> order, reversed;
  for (size_t i = 0; i < parts.image.programs.size(); i++)
    for (size_t j = 0; j < parts.image.programs[i].attach.size(); j++) {
      bool is_last_first = fires_newest_first(parts.image.programs[i].attach[j].kind);
      (is_last_first ? reversed : order).emplace_back(i, j);
    }
  order.insert(order.end(), reversed.rbegin(), reversed.rend());
  for (auto [program, point] : order) {
    take_signals();
    if (is_over) return Done{};
    Status done = attach_point(program, point);
    if (!done) return done.error();
  }
  return Done{};
}

// Tests and benchmarks are not attached unless asked for by their own options.
uint64_t Session::State::count_probes() const {
  uint64_t count = attached.size();
  for (const Program& program : parts.image.programs)
    for (const AttachPoint& point : program.attach)
      if (point.kind == ProbeKind::Begin || point.kind == ProbeKind::End ||
          point.kind == ProbeKind::Self)
        count++;
  return count;
}

Status Session::State::start() {
  if (options.child && !options.dry_run) {
    Status resumed = options.child->resume();
    if (!resumed) return resumed.error();
  }
  if (!options.quiet) parts.writer.attached_probes(count_probes());
  if (std::getenv(kNotifyVariable)) {
    parts.writer.flush();
    std::string line = fmt::format("{}\n", kNotifyVariable);
    ssize_t ignored = ::write(STDOUT_FILENO, line.data(), line.size());
    (void)ignored;
  }
  return Done{};
}

// --- loop
// -----------------------------------------------------------------------------------------

Status Session::State::take_some(bool& has_more) {
  has_more = false;
  if (!ring) return Done{};
  Result<bool> more = ring->consume();
  if (!more) return more.error();
  has_more = *more;
  parts.writer.flush();
  if (options.is_output_closed && options.is_output_closed()) is_over = true;
  if (actions->exit_code()) is_over = true;
  return Done{};
}

// Handles all there is. For when nothing new can come, or nothing that matters.
Status Session::State::drain() {
  bool has_more = true;
  while (has_more) {
    Status taken = take_some(has_more);
    if (!taken) return taken.error();
  }
  return Done{};
}

void Session::State::take_signals() {
  while (std::optional<int> signal = signals->next()) {
    if (*signal != SIGUSR1) {
      is_over = true;
      continue;
    }
    Status run = run_all(ProbeKind::Self);
    if (!run) parts.writer.runtime_error(Place{}, run.error().message());
  }
}

void Session::State::unwatch(uint64_t address) {
  std::vector<Attachment> closed;
  for (Attached& one : attached)
    if (one.point->kind == ProbeKind::Watchpoint && one.point->address == address)
      closed.push_back(std::move(one.attachment));
  detach(std::move(closed));
}

// Only begin and end probes, or iterators that have done their round.
bool Session::State::waits_for_nothing() const {
  auto is_waiting = [](const AttachPoint& point) {
    return point.kind == ProbeKind::Self ||
           (!probe_row(point.kind).has(kRunByFlowtap) && point.kind != ProbeKind::Iter);
  };
  for (const Program& program : parts.image.programs)
    if (std::any_of(program.attach.begin(), program.attach.end(), is_waiting)) return false;
  return true;
}

Status Session::State::wait() {
  std::vector<int> links;
  for (const Attached& one : attached)
    if (one.point->kind == ProbeKind::Iter) links.push_back(one.attachment.front().get());
  if (!links.empty()) {
    Result<Iterators> started = Iterators::start(std::move(links));
    if (!started) return started.error();
    iterators.emplace(std::move(*started));
  }

  pollfd sources[] = {
      {.fd = ring ? ring->wait_fd() : -1, .events = POLLIN},
      {.fd = signals->wait_fd(), .events = POLLIN},
      {.fd = options.child ? options.child->wait_fd() : process.get(), .events = POLLIN},
      {.fd = iterators ? iterators->wait_fd() : -1, .events = POLLIN},
  };
  int pause = losses->has_sites() ? kLossCheckMilliseconds : -1;
  bool has_more = true;  // begin probes have written already
  if (waits_for_nothing() && !iterators) is_over = true;
  while (!is_over) {
    Status taken = take_some(has_more);
    if (!taken) return taken.error();
    if (is_over) break;
    int ready = ::poll(sources, std::size(sources), has_more ? 0 : pause);
    if (ready < 0 && errno != EINTR) return errno_error("cannot wait for events");
    if (ready == 0 && !has_more) losses->report_new();
    if (ready <= 0) continue;
    if (sources[1].revents) take_signals();
    if (sources[2].revents) is_over = true;
    if (sources[3].revents) {
      sources[3].fd = -1;
      Status ran = iterators->finish();
      if (!ran) return ran.error();
      if (waits_for_nothing()) is_over = true;
    }
  }
  return Done{};
}

Status Session::State::finish() {
  signals->let_through();
  iterators.reset();
  std::vector<Attachment> attachments;
  for (Attached& one : attached) attachments.push_back(std::move(one.attachment));
  attached.clear();
  detach(std::move(attachments));
  if (options.child) options.child->stop();

  Status drained = drain();
  if (!drained) return drained.error();
  actions->resume();
  Status ended = run_all(ProbeKind::End);
  if (!ended) return ended.error();
  drained = drain();
  if (!drained) return drained.error();

  parts.writer.end_of_events();
  if (options.print_maps_on_exit) write_maps();
  losses->report_all();
  if (actions->bad_records() > 0) {
    ScriptPlace at(parts.sources, Span{});
    parts.writer.runtime_error(
        at.place(), fmt::format("{} records could not be understood", actions->bad_records()));
  }
  parts.writer.flush();
  return Done{};
}

void Session::State::write_maps() {
  std::vector<size_t> order;
  for (size_t i = 0; i < parts.image.maps.size(); i++)
    if (parts.image.maps[i].is_script_map) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return parts.image.maps[a].name < parts.image.maps[b].name;
  });
  for (size_t i : order) {
    Status written = write_map(parts.image.maps[i], loaded.maps[i].get(), {}, parts.writer);
    if (!written) parts.writer.runtime_error(Place{}, written.error().message());
  }
}

// --- the class
// ------------------------------------------------------------------------------------

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
  }
  Status done = state_->attach_all();
  if (done) done = state_->start();
  // What begin probes have written is not lost when the rest fails.
  if (!done && !state_->drain()) return done.error();
  return done;
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
  return state_->actions->exit_code().value_or(0);
}

Result<uint32_t> Session::run_once(size_t program) {
  uint64_t errors = state_->actions->errors();
  Result<uint32_t> result = run_program(state_->loaded.programs.at(program).get());
  if (!result) return result.error();
  Status drained = state_->drain();
  if (!drained) return drained.error();
  state_->actions->resume();
  bool has_failed = state_->actions->errors() > errors || state_->actions->take_exit_code() != 0;
  return *result == 0 && has_failed ? 1 : *result;
}

Result<std::vector<ProgramStats>> Session::stats() const {
  std::vector<ProgramStats> all;
  for (const Fd& program : state_->loaded.programs) {
    Result<ProgramStats> one = read_stats(program.get());
    if (!one) return one.error();
    all.push_back(*one);
  }
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
