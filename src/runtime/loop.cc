// The event loop, and what follows it. Ways in: Session::State::wait(), then finish().
//
// Waits for the ring buffer, for signals, for the end of the process of -p or -c, and for
// iterators. Output is flushed whenever the ring buffer was emptied, so that a slow script shows
// each line at once and a fast one writes many at a time.
//
// A record that finds the buffer empty wakes us, which costs the program that wrote it several
// times what the record does. So after records have come we rest for a moment: what is written
// meanwhile finds the buffer filled and wakes nobody.

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "attach/detach.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "kernel/run_program.h"
#include "read/stats.h"
#include "runtime/map_output.h"
#include "runtime/places.h"
#include "runtime/session_state.h"

namespace flowtap {

static constexpr std::chrono::milliseconds kLossPause{1000};
static constexpr std::chrono::milliseconds kRest{5};
static constexpr uint64_t kRoomToRest = 1 << 20;  // bytes: no producer fills that in a rest
static constexpr std::chrono::milliseconds kLongestLookPause{1000};

// A command may take seconds, and a signal must not wait for all that are in the buffer, nor for
// thousands of records whose symbols have to be read.
void Session::State::take(Bytes record) {
  constexpr uint64_t kBetweenLooks = 256;
  bool is_long = actions->take(record);
  bool looks = !is_over && ++taken % kBetweenLooks == 0;
  if (is_long || (looks && was_interrupted())) ring->pause();
}

Status Session::State::take_some(bool& has_more) {
  has_more = false;
  if (!ring) return Done{};
  bool has_left = exit_cell && exit_cell->is_called();
  if (has_left && !left_at) left_at = ring->written();
  has_more = ring->consume();
  // Its record would have come by now: the ring buffer was full.
  if (has_left && !actions->has_left() && ring->consumed() >= *left_at) actions->leave();
  report_unread();
  parts.writer.flush();
  if (options.is_output_closed && options.is_output_closed()) is_over = true;
  if (actions->has_left()) is_over = true;
  if (signals && was_interrupted()) take_signals();
  return Done{};
}

// Symbols, unwind tables and the like that were left out. Not where they are found: there a line is
// being written.
void Session::State::report_unread() {
  std::vector<std::string> messages = parts.values.symbolizer.take_warnings();
  if (unwind)
    for (std::string& message : unwind->take_warnings()) messages.push_back(std::move(message));
  if (!options.warns) return;
  for (const std::string& message : messages) parts.writer.runtime_error(Place{}, message);
}

// Handles all there is, but not what comes meanwhile, which may be without end.
Status Session::State::drain() {
  bool has_more = false;
  uint64_t end = ring ? ring->written() : 0;
  do {
    if (Status took = take_some(has_more); !took) return took.error();
  } while (has_more && ring->consumed() < end);
  return Done{};
}

void Session::State::take_signals() {
  while (std::optional<int> signal = signals->next()) {
    if (*signal != SIGUSR1) continue;
    Status run = run_all(ProbeKind::Self, "signal");
    if (!run) parts.writer.runtime_error(Place{}, run.error().message());
  }
  // Also one that was read elsewhere, while output was blocked.
  if (!was_interrupted() || is_over) return;
  is_over = true;
  actions->leave_commands();
  if (iterators) iterators->stop();
}

static bool is_watchpoint(const AttachPoint& point) {
  return probe_row(point.kind).family == ProbeFamily::Watchpoint;
}

void Session::State::unwatch(uint64_t address) {
  std::vector<Attachment> closed;
  for (Attached& one : attached)
    if (is_watchpoint(*one.point) && one.point->watched == address)
      closed.push_back(std::move(one.attachment));
  detach(std::move(closed));  // nothing is left of watchpoints
}

// An iterator that is pinned to a file runs when somebody reads the file.
static bool is_run_at_once(const AttachPoint& point) {
  return probe_row(point.kind).family == ProbeFamily::Iterator && point.pin.empty();
}

// Only begin and end probes, or iterators that have done their round. A command of -c is waited for
// whatever is traced.
bool Session::State::waits_for_nothing() const {
  if (options.child) return false;
  auto is_waiting = [](const AttachPoint& point) {
    return !point.self_event.empty() ||
           (!probe_row(point.kind).has(kRunByFlowtap) && !is_run_at_once(point));
  };
  for (const Program& program : parts.image.programs)
    if (std::any_of(program.attach.begin(), program.attach.end(), is_waiting)) return false;
  return true;
}

Status Session::State::start_iterators() {
  std::vector<int> links;
  for (const Attached& one : attached)
    if (is_run_at_once(*one.point)) links.push_back(one.attachment.links.front().get());
  if (links.empty()) return Done{};
  Result<Iterators> started = Iterators::start(std::move(links));
  if (!started) return started.error();
  iterators.emplace(std::move(*started));
  return Done{};
}

Status Session::State::end_iterators() {
  sources.remove(iterators->wait_fd());
  Status ran = iterators->finish();
  iterators.reset();
  if (waits_for_nothing()) is_over = true;
  return ran;
}

// Beside other probes iterators tell what was there before. They are done before the script counts
// as attached, so that nothing new is taken for old.
Status Session::State::visit_what_is_there() {
  Status started = start_iterators();
  if (!started || !iterators) return started;
  pollfd done{.fd = iterators->wait_fd(), .events = POLLIN};
  while (::poll(&done, 1, static_cast<int>(kRest.count())) <= 0) {
    bool has_more = false;
    if (Status took = take_some(has_more); !took) return took.error();
  }
  return end_iterators();
}

// Not only when nothing happens: losses come with floods.
void Session::State::check_losses() {
  Clock::time_point now = Clock::now();
  if (!losses->has_sites() || now - losses_read < kLossPause) return;
  losses_read = now;
  losses->report_new();
}

// A command may live for a few milliseconds only, but then it has mapped its libraries soon.
void Session::State::look_at_process() {
  Clock::time_point now = Clock::now();
  if (!options.look_at_process || now - looked_at < look_pause) return;
  looked_at = now;
  look_pause = std::min(look_pause * 2, kLongestLookPause);
  if (options.child)
    options.look_at_process(options.child->pid());
  else if (options.pid)
    options.look_at_process(*options.pid);
}

// The first of the probes that report; null when there is none.
const AttachPoint* Session::State::report_point() const {
  for (const Program& program : parts.image.programs)
    for (const AttachPoint& point : program.attach)
      if (point.self_event == "report") return &point;
  return nullptr;
}

void Session::State::start_clocks() {
  Clock::time_point now = Clock::now();
  if (options.duration.count()) last_moment = now + options.duration;
  const AttachPoint* point = report_point();
  if (!point) return;
  interval = std::chrono::nanoseconds(point->period_ns);
  if (options.interval.count()) interval = options.interval;
  if (interval.count()) next_report = now + interval;
}

// What the script gathered, as it says itself. Maps that are `per report` are given to it whole:
// when it begins no program uses its side of them any more.
Status Session::State::report() {
  if (!report_point()) return Done{};
  // The records of a report must not be lost to those that came before them.
  if (Status drained = drain(); !drained) return drained;
  if (options.has_times) actions->write_time();
  Status turned = sides->turn();
  if (!turned) return turned;
  Status ran = run_all(ProbeKind::Self, "report");
  if (ran) ran = drain();
  return ran ? sides->empty() : ran;
}

Status Session::State::look_at_clocks() {
  Clock::time_point now = Clock::now();
  if (now >= last_moment) is_over = true;
  if (is_over || now < next_report) return Done{};
  // A report that took longer than the interval is followed by the next whole one.
  while (next_report <= now) next_report += interval;
  return report();
}

int Session::State::milliseconds_to_wait() const {
  using std::chrono::milliseconds;
  bool has_process = options.child || options.pid;
  milliseconds wait = milliseconds::max();
  // In a non-maskable interrupt a record can be lost, and nobody woken, though there is room.
  if (losses->has_sites() || exit_cell) wait = kLossPause;
  if (options.look_at_process && has_process) wait = look_pause;
  Clock::time_point soonest = std::min(next_report, last_moment);
  if (soonest != Clock::time_point::max()) {
    milliseconds left = std::chrono::ceil<milliseconds>(soonest - Clock::now());
    wait = std::min(wait, std::max(left, milliseconds(0)));
  }
  return wait == milliseconds::max() ? -1
                                     : static_cast<int>(std::min<int64_t>(wait.count(), INT_MAX));
}

// Not when a process has to be looked at while it lives, nor where the room is small.
bool Session::State::may_rest() const {
  if (!ring) return false;
  const std::vector<Event>& events = parts.image.events;
  bool is_in_haste = std::any_of(events.begin(), events.end(), [](const Event& event) {
    return event.kind == EventKind::Process || event.kind == EventKind::Unwind;
  });
  size_t map = static_cast<size_t>(parts.image.ringbuf);
  return !is_in_haste && parts.image.maps[map].max_entries >= kRoomToRest;
}

void Session::State::add_sources() {
  auto ends = [this] {
    is_over = true;
    return Status(Done{});
  };
  // The ring buffer is read in every round.
  if (ring) sources.add(ring->wait_fd(), [] { return Status(Done{}); });
  sources.add(signals->wait_fd(), [this] {
    take_signals();
    return Status(Done{});
  });
  if (options.child)
    sources.add(options.child->wait_fd(), ends);
  else if (process.valid())
    sources.add(process.get(), ends);
  if (iterators) sources.add(iterators->wait_fd(), [this] { return end_iterators(); });
}

Status Session::State::wait_once(int timeout, bool rests) {
  if (rests && (timeout < 0 || timeout > kRest.count())) timeout = kRest.count();
  if (ring) sources.set_paused(ring->wait_fd(), rests);
  Status waited = sources.wait(timeout);
  if (!waited) return waited;
  check_losses();
  Status timed = look_at_clocks();
  return timed ? sources.run_ready() : timed;
}

Status Session::State::wait() {
  losses_read = Clock::now();
  start_clocks();
  if (waits_for_nothing() && !is_over) {
    Status started = start_iterators();
    if (!started) return started.error();
    if (!iterators) is_over = true;
  }
  add_sources();
  bool rests_between = may_rest();
  while (!is_over) {
    bool has_more = false;
    look_at_process();
    if (Status took = take_some(has_more); !took) return took.error();
    if (is_over) break;
    bool rests = rests_between && ring->has_taken() && !has_more;
    int timeout = has_more ? 0 : milliseconds_to_wait();
    if (Status waited = wait_once(timeout, rests); !waited) return waited.error();
  }
  return Done{};
}

// Values that are kept per thread are read while the threads are there.
Status Session::State::run_dumps() {
  for (const Dump& dump : parts.image.dumps) {
    Fd link(::bpf_link_create(loaded.programs[dump.program].get(), 0, BPF_TRACE_ITER, nullptr));
    if (!link.valid()) return errno_error("cannot visit the threads");
    Result<std::vector<std::byte>> entries = read_iterator(link.get());
    if (!entries) return entries.error();
    dumped.emplace(dump.map, split_entries(parts.image.maps[dump.map], *entries));
  }
  return Done{};
}

int Session::State::exit_code() const {
  return exit_cell && exit_cell->is_called() ? exit_cell->code() : earlier_code;
}

// Even after exit() the last report and the end probes are heard, and may call it themselves.
void Session::State::begin_phase() {
  earlier_code = exit_code();
  if (exit_cell) exit_cell->reset();
  left_at.reset();
  actions->resume();
}

Status Session::State::finish() {
  let_later_signals_kill();
  iterators.reset();
  for (const Attached& one : attached)
    for (const Fd& link : one.attachment.links)
      losses->note_missed(*one.point, count_missed(link.get()));
  leftovers = let_go();
  Status visited = run_dumps();  // while the threads of -c are still there
  if (!visited) return visited.error();
  if (options.child) options.child->stop();

  Status drained = drain();
  if (!drained) return drained.error();
  begin_phase();
  Status reported = report();
  if (!reported) return reported.error();
  begin_phase();
  Status ended = run_all(ProbeKind::End);
  if (!ended) return ended.error();
  drained = drain();
  if (!drained) return drained.error();

  actions->write_held_rows();
  parts.writer.end_of_events();
  if (options.print_maps_on_exit) write_maps();
  report_unread();
  losses->report_all();
  if (options.warns) traced_files.report(parts.sources, parts.writer);
  ScriptPlace at(parts.sources, Span{});
  if (options.warns && unwind && unwind->is_full())
    parts.writer.runtime_error(
        at.place(), fmt::format("unwind tables are full with {} rows: some files were left out",
                                unwind->rows()));
  if (actions->bad_records() > 0)
    parts.writer.runtime_error(
        at.place(), counted(actions->bad_records(), "record") + " could not be understood");
  if (actions->commands_left() > 0)
    parts.writer.runtime_error(at.place(),
                               fmt::format("could not run {} of system() before the end",
                                           counted(actions->commands_left(), "command")));
  parts.writer.flush();
  return Done{};
}

// Reports have shown what is per report.
void Session::State::write_maps() {
  std::vector<size_t> order;
  auto is_reported = [&](size_t map) {
    return std::any_of(parts.image.sides.begin(), parts.image.sides.end(),
                       [&](const MapSides& two) { return two.first == map; });
  };
  for (size_t i = 0; i < parts.image.maps.size(); i++)
    if (parts.image.maps[i].is_script_map && !is_reported(i)) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return parts.image.maps[a].name < parts.image.maps[b].name;
  });
  for (size_t i : order) {
    Status written = write_map({parts.image, loaded.maps, &dumped}, i, {.is_end = true},
                               {parts.writer, parts.values});
    if (!written) parts.writer.runtime_error(Place{}, written.error().message());
  }
}

}  // namespace flowtap
