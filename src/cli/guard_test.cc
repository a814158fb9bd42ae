#include "cli/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "base/check.h"

namespace flowtap {
namespace {

// In a process of its own: guarded() changes what signals do.
int code_of(const std::function<int()>& work) {
  pid_t pid = ::fork();
  if (pid == 0) ::_exit(guarded(work));
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int throw_bad_alloc() { throw std::bad_alloc(); }

TEST(Guard, exit_codes) {
  EXPECT_EQ(code_of([] { return 7; }), 7);
  EXPECT_EQ(code_of(throw_bad_alloc), kExitMemory);
  EXPECT_EQ(code_of([]() -> int { throw std::out_of_range("x"); }), kExitBug);
  EXPECT_EQ(code_of([]() -> int { throw 1; }), kExitBug);
  // std::terminate() is called where nothing may be thrown.
  EXPECT_EQ(code_of([]() noexcept -> int { return throw_bad_alloc(); }), kExitMemory);
}

TEST(Guard, a_closed_pipe_does_not_kill) {
  EXPECT_EQ(code_of([] { return ::raise(SIGPIPE); }), 0);
  EXPECT_EQ(code_of([] { return ::raise(SIGXFSZ); }), 0);
}

}  // namespace
}  // namespace flowtap
