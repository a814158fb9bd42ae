// Signals that end flowtap; see interrupt.h. A signal belongs to the whole process, hence the
// variables that change: which signal came first, when, and what was spent on reading since.

#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string_view>

#include "base/clock.h"

namespace flowtap {

static constexpr uint64_t kTimeToFinishNs = 500'000'000;
// timeout(1) signals a process and then its group, and some people press Ctrl-C twice.
static constexpr uint64_t kSameRequestNs = 2'000'000'000;

static std::atomic<int> first_signal{0};         // 0: none yet
static std::atomic<uint64_t> interrupted_at{0};  // by the monotonic clock

static std::atomic<uint64_t> reading_since{0};  // by the monotonic clock; 0: nothing is read
static std::atomic<uint64_t> read_for{0};       // nanoseconds after the signal, until then

// Files of others have a limit each, but a process may map any number of them.
static constexpr uint64_t kMostReadingNs = 10'000'000'000, kShareOfRun = 20;
static std::atomic<uint64_t> most_reading_ns{kMostReadingNs};
static std::atomic<uint64_t> began_at{0};  // by the monotonic clock; 0: nothing was read yet
static std::atomic<uint64_t> reading_cpu_from{0};  // by the clock of the thread that reads
static std::atomic<uint64_t> reading_cpu{0};       // until then

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

void forget_interrupt() {
  first_signal = 0;
  read_for = 0;
}

bool was_interrupted() {
  if (first_signal == 0)
    if (int signal = pending_signal()) note_interrupt(signal);
  return first_signal != 0;
}

bool is_out_of_time() {
  return was_interrupted() && clock_ns(CLOCK_MONOTONIC) - interrupted_at > kTimeToFinishNs;
}

// Only what comes after the signal counts: the rest of the end in order, such as detaching
// thousands of probes, must not leave less time for names.
static uint64_t reading_time() {
  if (reading_since == 0) return 0;
  return clock_ns(CLOCK_MONOTONIC) - std::max(reading_since.load(), interrupted_at.load());
}

ReadingOfOthers::ReadingOfOthers() : is_outermost_(reading_since == 0) {
  if (!is_outermost_) return;
  reading_since = clock_ns(CLOCK_MONOTONIC);
  reading_cpu_from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  uint64_t never = 0;
  began_at.compare_exchange_strong(never, reading_since);
}

ReadingOfOthers::~ReadingOfOthers() {
  if (!is_outermost_) return;
  if (first_signal != 0) read_for += reading_time();
  reading_cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - reading_cpu_from;
  reading_since = 0;
}

static bool is_budget_spent() {
  if (began_at == 0) return false;
  uint64_t spent = reading_cpu;
  if (reading_since != 0) spent += clock_ns(CLOCK_THREAD_CPUTIME_ID) - reading_cpu_from;
  if (spent <= most_reading_ns) return false;
  return spent - most_reading_ns > (clock_ns(CLOCK_MONOTONIC) - began_at) / kShareOfRun;
}

static bool is_reading_too_late() {
  return was_interrupted() && read_for + reading_time() > kTimeToFinishNs;
}

bool is_reading_over() { return is_budget_spent() || is_reading_too_late(); }

const char* why_reading_is_over() {
  return is_reading_too_late() ? "a signal left no time to read more"
                               : "reading programs and libraries took too much CPU time";
}

void restart_reading(uint64_t most_ns) {
  most_reading_ns = most_ns ? most_ns : kMostReadingNs;
  began_at = 0;
  reading_cpu = 0;
}

// Calls only what a signal handler may call.
static void take_later_signal(int signal) {
  note_interrupt(signal);
  if (signal != SIGINT) first_signal = signal;  // no pager is waiting
  if (clock_ns(CLOCK_MONOTONIC) - interrupted_at <= kSameRequestNs) return;
  constexpr std::string_view kMessage =
      "flowtap: ended by another signal; the rest of the output was not printed\n";
  (void)!::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // blocked until the handler returns
}

void let_later_signals_kill() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // by nohup, for example
    action.sa_handler = &take_later_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
    ::sigaddset(&set, signal);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool should_give_up_output() {
  if (!was_interrupted()) return false;
  int pending = pending_signal();
  if (first_signal != SIGINT || (pending != 0 && pending != SIGINT)) return true;
  let_later_signals_kill();
  return first_signal != SIGINT;
}

}  // namespace flowtap
