// Signals that end flowtap; see interrupt.h. A signal belongs to the whole process, hence the two
// variables that change: which signal came first, and when.

#include "base/interrupt.h"

#include <signal.h>

#include <atomic>
#include <initializer_list>

#include "base/clock.h"

namespace flowtap {

static constexpr uint64_t kTimeToFinishNs = 500'000'000;

static std::atomic<int> first_signal{0};         // 0: none yet
static std::atomic<uint64_t> interrupted_at{0};  // by the monotonic clock

// The signal that is pending, or 0. Only blocked ones ever are: before the event loop begins they
// end the process.
static int pending_signal() {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  for (int signal : {SIGTERM, SIGHUP, SIGINT})
    if (::sigismember(&pending, signal)) return signal;
  return 0;
}

void note_interrupt(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal))
    interrupted_at = clock_ns(CLOCK_MONOTONIC);
}

void forget_interrupt() { first_signal = 0; }

bool was_interrupted() {
  if (first_signal == 0)
    if (int signal = pending_signal()) note_interrupt(signal);
  return first_signal != 0;
}

bool is_out_of_time() {
  return was_interrupted() && clock_ns(CLOCK_MONOTONIC) - interrupted_at > kTimeToFinishNs;
}

// Signals do not queue: while one is pending a second of its kind would be lost.
static void let_next_one_kill() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  timespec now{};
  while (::sigtimedwait(&set, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool should_give_up_output() {
  if (!was_interrupted()) return false;
  int pending = pending_signal();
  if (first_signal != SIGINT || (pending != 0 && pending != SIGINT)) return true;
  if (pending == SIGINT) let_next_one_kill();
  return false;
}

}  // namespace flowtap
