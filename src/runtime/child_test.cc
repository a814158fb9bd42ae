// The command of -c: how it is split, when it runs, and how it ends.

#include "runtime/child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "base/text.h"

namespace flowtap {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommand, words_quotes_and_backslashes) {
  EXPECT_EQ(*split_command("ls -l /tmp"), (Words{"ls", "-l", "/tmp"}));
  EXPECT_EQ(*split_command("  a\t b \n"), (Words{"a", "b"}));
  EXPECT_EQ(*split_command("a 'b c' \"d e\""), (Words{"a", "b c", "d e"}));
  EXPECT_EQ(*split_command("a b\\ c"), (Words{"a", "b c"}));
  EXPECT_EQ(*split_command("a '' b"), (Words{"a", "", "b"}));
  EXPECT_EQ(*split_command("a\"b\"'c'd"), (Words{"abcd"}));
  EXPECT_EQ(*split_command(R"(a "b\"c" 'd\e')"), (Words{"a", "b\"c", "d\\e"}));
}

TEST(SplitCommand, what_is_no_command_is_refused) {
  EXPECT_EQ(split_command("").error().what, "the command is empty");
  EXPECT_EQ(split_command("a 'b").error().what, "a ' is not closed in 'a 'b'");
}

bool ends_soon(const Child& child) {
  pollfd ended{.fd = child.wait_fd(), .events = POLLIN};
  return ::poll(&ended, 1, 5000) == 1;
}

TEST(ChildTest, nothing_runs_before_resume) {
  TestDirectory directory;
  std::string file = directory.path() + "/made";
  Result<Child> child = Child::start("touch '" + file + "'");
  ASSERT_TRUE(child) << child.error().message();
  EXPECT_GT(child->pid(), 0);
  EXPECT_EQ(::kill(child->pid(), 0), 0);
  EXPECT_NE(::access(file.c_str(), F_OK), 0);
  ASSERT_TRUE(child->resume());
  EXPECT_TRUE(ends_soon(*child));
  EXPECT_EQ(::access(file.c_str(), F_OK), 0);
}

TEST(ChildTest, a_missing_command_is_named) {
  EXPECT_EQ(Child::start("no_such_command x").error().message(),
            "cannot run 'no_such_command': No such file or directory");
  EXPECT_EQ(Child::start("/no/such/command").error().message(),
            "cannot run '/no/such/command': No such file or directory");
}

TEST(ChildTest, a_file_that_cannot_be_executed_is_told_at_resume) {
  TestDirectory directory;
  std::string file = directory.write("script", "#!/no/such/interpreter\n");
  ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  Result<Child> child = Child::start(file);
  ASSERT_TRUE(child);
  Status resumed = child->resume();
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code, ENOENT);
}

TEST(ChildTest, it_ends_with_its_owner) {
  pid_t pid = 0;
  {
    Result<Child> child = Child::start("sleep 1000");
    ASSERT_TRUE(child);
    pid = child->pid();
    ASSERT_TRUE(child->resume());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  {
    Result<Child> child = Child::start("sleep 1000");  // never resumed
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildTest, signals_held_back_here_reach_the_command) {
  ::signal(SIGINT, SIG_DFL);  // ignored where tests run in the background
  sigset_t set, before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  Result<Child> child = Child::start("sleep 1000");
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->resume());
  ::kill(child->pid(), SIGINT);
  EXPECT_TRUE(ends_soon(*child));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace flowtap
