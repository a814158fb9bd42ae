#pragma once
// Whether a signal has asked flowtap to end. While a script runs, SIGINT, SIGTERM and SIGHUP are
// blocked and the event loop reads them. Work that can take long because of what others wrote (a
// file full of symbols, a pipe that nobody reads) asks here now and then, and gives up in time.

#include <cstdint>

namespace flowtap {

// Such a signal has been read by the event loop, or is still pending. A system call until then:
// ask every few thousand steps.
bool was_interrupted();

// The same, and the time to finish in order (half a second) is over: what is not done is left out.
bool is_out_of_time();

// While one lives, files are read that others wrote, such as those with the symbols of traced
// programs. Inside of another one it changes nothing.
class ReadingOfOthers {
 public:
  ReadingOfOthers();
  ~ReadingOfOthers();
  ReadingOfOthers(const ReadingOfOthers&) = delete;
  ReadingOfOthers& operator=(const ReadingOfOthers&) = delete;

 private:
  bool is_outermost_;
};

// What is not read yet is left out: such a signal has come, and half a second was spent on such
// files since; or all of them together took more of a CPU than a run should spend on them, ten
// seconds and a twentieth of its time. A system call as above, and another one while they are read.
bool is_reading_over();
// For messages.
const char* why_reading_is_over();
// For tests: as if a run began now, which may spend so many nanoseconds. 0: the usual.
void restart_reading(uint64_t most_ns = 0);

// For output that its reader does not take. After SIGTERM or SIGHUP it should be given up soon.
// After SIGINT the reader may be a pager, which still wants what was gathered.
bool should_give_up_output();

// Signals of the next two seconds are part of the same request and change nothing. A later one
// kills the process, with a message that output is missing.
void let_later_signals_kill();

// For the event loop: it has read such a signal. Another script starts without one.
void note_interrupt(int signal);
void forget_interrupt();

}  // namespace flowtap
