// Commands that are held at their entry point, and what becomes of them.

#include "runtime/entry_stop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/test_directory.h"
#include "base/text.h"
#include "runtime/child.h"
#include "symbols/process_maps.h"

namespace flowtap {
namespace {

bool stop_ends_soon(const Child& child) {
  pollfd ended{.fd = child.wait_fd(), .events = POLLIN};
  return ::poll(&ended, 1, 5000) == 1;
}

bool has_c_library(pid_t pid) {
  std::vector<Mapping> mappings = ProcessFiles(pid).executable_mappings();
  return std::any_of(mappings.begin(), mappings.end(), [](const Mapping& mapping) {
    return mapping.path.find("/libc.so") != std::string::npos;
  });
}

TEST(EntryStop, libraries_are_mapped_and_nothing_has_run) {
  TestDirectory directory;
  std::string file = directory.path() + "/made";
  Result<Child> child = Child::start("touch " + file);
  ASSERT_TRUE(child);
  {
    Result<EntryStop> stop = EntryStop::watch(child->pid());
    if (!stop) GTEST_SKIP() << stop.error().message();
    ASSERT_TRUE(child->resume());
    ASSERT_TRUE(stop->wait());
    EXPECT_TRUE(has_c_library(child->pid()));
    EXPECT_FALSE(read_file(file));
  }
  EXPECT_TRUE(stop_ends_soon(*child));
  EXPECT_TRUE(read_file(file));
}

TEST(EntryStop, the_exit_code_is_the_commands) {
  Result<Child> child = Child::start("sh -c 'exec sh -c \"exit 7\"'");
  ASSERT_TRUE(child);
  {
    Result<EntryStop> stop = EntryStop::watch(child->pid());
    if (!stop) GTEST_SKIP() << stop.error().message();
    ASSERT_TRUE(child->resume());
    ASSERT_TRUE(stop->wait());
  }
  ASSERT_TRUE(stop_ends_soon(*child));
  siginfo_t info = {};
  ::waitid(P_PID, static_cast<id_t>(child->pid()), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(info.si_code, CLD_EXITED);
  EXPECT_EQ(info.si_status, 7);
}

TEST(EntryStop, a_command_that_cannot_run_is_not_waited_for) {
  TestDirectory directory;
  std::string file = directory.write("script", "#!/no/such/shell\n");
  ::chmod(file.c_str(), 0755);
  Result<Child> child = Child::start(file);
  ASSERT_TRUE(child);
  Result<EntryStop> stop = EntryStop::watch(child->pid());
  if (!stop) GTEST_SKIP() << stop.error().message();
  EXPECT_FALSE(child->resume());
  EXPECT_FALSE(stop->wait());
}

TEST(EntryStop, letting_go_before_exec_leaves_the_child_waiting) {
  Result<Child> child = Child::start("true");
  ASSERT_TRUE(child);
  {
    Result<EntryStop> stop = EntryStop::watch(child->pid());
    if (!stop) GTEST_SKIP() << stop.error().message();
  }
  EXPECT_TRUE(child->resume());
  EXPECT_TRUE(stop_ends_soon(*child));
}

}  // namespace
}  // namespace flowtap
