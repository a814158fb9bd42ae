#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

namespace flowtap {
namespace {

class InterruptTest : public testing::Test {
 protected:
  void SetUp() override {
    forget_interrupt();
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  void TearDown() override {
    take();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    forget_interrupt();
  }
  void take() {
    timespec none{};
    while (::sigtimedwait(&set_, nullptr, &none) > 0) {
    }
  }

  sigset_t set_, before_;
};

TEST_F(InterruptTest, a_pending_signal_interrupts_and_stays_noted_when_it_is_read) {
  EXPECT_FALSE(was_interrupted());
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(was_interrupted());
  take();
  EXPECT_TRUE(was_interrupted());
  forget_interrupt();
  EXPECT_FALSE(was_interrupted());
}

TEST_F(InterruptTest, time_runs_out_after_the_signal) {
  EXPECT_FALSE(is_out_of_time());
  note_interrupt(SIGTERM);
  EXPECT_FALSE(is_out_of_time());
  timespec longer{.tv_sec = 0, .tv_nsec = 600'000'000};
  ::nanosleep(&longer, nullptr);
  EXPECT_TRUE(is_out_of_time());
  note_interrupt(SIGTERM);  // a second signal gives no more time
  EXPECT_TRUE(is_out_of_time());
}

void use_cpu(uint64_t nanoseconds) {
  uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

TEST_F(InterruptTest, all_files_of_others_together_may_take_so_much_cpu_time) {
  restart_reading(50'000'000);
  use_cpu(60'000'000);  // of something else
  EXPECT_FALSE(is_reading_over());
  for (int file = 0; file < 2; file++) {
    ReadingOfOthers reading;
    use_cpu(20'000'000);
    EXPECT_FALSE(is_reading_over());
  }
  {
    ReadingOfOthers reading;
    use_cpu(200'000'000);  // much more than a twentieth of the time, also on a busy machine
    EXPECT_TRUE(is_reading_over());
  }
  EXPECT_TRUE(is_reading_over());
  EXPECT_STREQ(why_reading_is_over(), "reading programs and libraries took too much CPU time");
  restart_reading();
  EXPECT_FALSE(is_reading_over());
}

TEST_F(InterruptTest, a_long_run_may_read_more) {
  restart_reading(1);
  {
    ReadingOfOthers reading;
    use_cpu(50'000'000);
  }
  EXPECT_TRUE(is_reading_over());
  timespec pause{.tv_sec = 1, .tv_nsec = 100'000'000};
  ::nanosleep(&pause, nullptr);
  EXPECT_FALSE(is_reading_over());
  restart_reading();
}

TEST_F(InterruptTest, output_is_given_up_but_not_to_a_pager) {
  EXPECT_FALSE(should_give_up_output());
  note_interrupt(SIGINT);
  EXPECT_FALSE(should_give_up_output());
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(should_give_up_output());
  take();
  forget_interrupt();
  note_interrupt(SIGHUP);
  EXPECT_TRUE(should_give_up_output());
}

// The status of a process that gets a second signal so long after the first.
int status_after(uint64_t nanoseconds) {
  pid_t pid = ::fork();
  if (pid == 0) {
    ::close(STDERR_FILENO);
    note_interrupt(SIGINT);
    let_later_signals_kill();
    timespec pause{.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
                   .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
    ::nanosleep(&pause, nullptr);
    ::raise(SIGINT);
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(Interrupt, signals_soon_after_the_first_are_the_same_request) {
  EXPECT_EQ(status_after(0), 7);
  EXPECT_EQ(status_after(300'000'000), 7);
  EXPECT_EQ(status_after(2'100'000'000), -SIGINT);
}

}  // namespace
}  // namespace flowtap
