#pragma once
// What a running script consists of. Only session.cc and loop.cc see it.

#include <chrono>

#include "read/ring_buffer.h"
#include "runtime/actions.h"
#include "runtime/event_sources.h"
#include "runtime/exit_cell.h"
#include "runtime/iterators.h"
#include "runtime/losses.h"
#include "runtime/map_output.h"
#include "runtime/map_sides.h"
#include "runtime/refused_places.h"
#include "runtime/session.h"
#include "runtime/signals.h"
#include "runtime/traced_files.h"
#include "runtime/unwind_tables.h"

namespace flowtap {

struct Session::State {
  State(const SessionParts& all_parts, RunOptions all_options)
      : parts(all_parts), options(std::move(all_options)) {}
  ~State();

  // --- steps, session.cc
  Status open(std::optional<Refusal>* refusal);
  Status open_unwind_tables();
  Status run_all(ProbeKind kind, std::string_view self_event = {});
  bool may_end_in_begin() const;
  Status attach_all();
  Status attach_program(size_t program, bool is_reversed);
  Status attach_points(size_t program, std::span<const AttachPoint* const> points);
  Status resume_with_tables();
  Status start();
  Status set_gate(Gate gate);
  std::vector<Fd> let_go();
  // --- steps, loop.cc
  Status wait();
  void add_sources();
  Status wait_once(int timeout, bool rests);
  Status run_dumps();
  Status finish();
  void write_maps();

  // --- parts of them
  Status start_iterators();
  Status end_iterators();
  Status visit_what_is_there();
  void report_unread();
  Status drain();
  void take(Bytes record);
  Status take_some(bool& has_more);
  int exit_code() const;
  void begin_phase();
  void take_signals();
  void check_losses();
  Status report();
  const AttachPoint* report_point() const;
  void start_clocks();
  Status look_at_clocks();
  void look_at_process();
  int milliseconds_to_wait() const;
  bool may_rest() const;
  void unwatch(uint64_t address);
  uint64_t count_probes() const;
  bool waits_for_nothing() const;
  void say(const std::string& text) const {
    if (options.say) options.say(text);
  }

  struct Attached {
    const AttachPoint* point;  // the first, where several were attached at once
    size_t points;
    Attachment attachment;
  };

  SessionParts parts;
  RunOptions options;
  LoadedImage loaded;
  std::vector<Attached> attached;
  TracedFiles traced_files;
  RefusedPlaces refused_places;
  std::optional<UnwindTables> unwind;
  std::optional<Actions> actions;
  std::optional<Losses> losses;
  std::optional<TurningMaps> sides;
  std::optional<RingBuffer> ring;
  std::optional<ExitCell> exit_cell;
  int earlier_code = 0;  // of exit() before the reports and end probes, which may replace it
  std::optional<uint64_t>
      left_at;           // exit() was seen in its cell: what is written up to here counts
  EventSources sources;  // from wait() on
  std::optional<Signals> signals;
  std::optional<Iterators> iterators;
  DumpedMaps dumped;
  using Clock = std::chrono::steady_clock;
  // Reports and the end come at multiples of the same start; where both meet, the end reports.
  Clock::time_point next_report = Clock::time_point::max();
  Clock::time_point last_moment = Clock::time_point::max();
  Clock::duration interval{0};
  Clock::time_point losses_read;
  Clock::time_point looked_at;
  std::chrono::milliseconds look_pause{1};  // doubled each time
  std::vector<Fd> leftovers;                // to be closed in the background
  Fd process;                               // of -p
  Fd stats;
  uint64_t taken = 0;  // records
  bool is_over = false;
};

}  // namespace flowtap
