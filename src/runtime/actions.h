#pragma once
// Actions: what records ask user space to do, from printf to exit.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <span>

#include "base/fd.h"
#include "bpf/image.h"
#include "output/writer.h"
#include "runtime/capture_files.h"
#include "runtime/held_rows.h"
#include "source/source.h"
#include "symbols/process_maps.h"

namespace flowtap {

struct ActionInput {
  const Image& image;
  const Sources& sources;
  std::span<const Fd> maps;  // in step with Image::maps
  Writer& writer;
  ValueContext values;
  uint64_t max_cat_bytes = 10240;
  std::function<void(uint64_t address)> unwatch;  // may be empty
  // Somebody wants the unwind tables of a process. May be empty.
  std::function<void(pid_t pid, ProcessLayout layout)> unwind;
  bool warns = true;  // false: warnf() is silent
};

class Actions {
 public:
  explicit Actions(ActionInput input) : in_(std::move(input)), held_(in_.image, in_.writer) {}

  // One record of the ring buffer. After exit() all are dropped, until resume(). True when it ran a
  // command.
  bool take(Bytes record);

  // Whether the script has called exit().
  bool has_left() const { return has_left_; }
  // It has, though no record says so.
  void leave();
  // Records count again: those of the end probes do, even after exit().
  void resume() {
    has_left_ = false;
    is_dropping_ = false;
    leaves_commands_ = false;
  }
  // Commands are no longer run, but counted, until resume(): somebody wants to see the end.
  void leave_commands() { leaves_commands_ = true; }
  uint64_t commands_left() const { return commands_left_; }

  void write_time();  // on a line of its own
  // Rows that no print() asked for are not lost.
  void write_held_rows() { held_.write_rest(); }

  uint64_t bad_records() const { return bad_records_; }
  uint64_t errors() const { return errors_; }  // errorf() calls, and actions that failed

 private:
  void run(const Event& event, Bytes record);
  void message(const Event& event, Bytes record);
  void time(std::string_view format);
  void cat(const Event& event, Bytes record);
  void join(const Event& event, Bytes record);
  void system(const Event& event, Bytes record);
  void row(const Event& event, Bytes record);
  void print_map(const Event& event, Bytes record);
  void print_table(const Event& event, Bytes record);
  void change_map(const Event& event);
  void unwatch(const Event& event, Bytes record);
  void capture(const Event& event, Bytes record);

  std::string formatted(const Event& event, Bytes record) const;
  void failed(const Event& event, const Error& error);

  ActionInput in_;
  HeldRows held_;
  CaptureFiles captures_;
  bool has_left_ = false;
  bool is_dropping_ = false;
  bool leaves_commands_ = false;
  uint64_t commands_left_ = 0;
  uint64_t bad_records_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace flowtap
