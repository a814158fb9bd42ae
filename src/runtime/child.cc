// The process of -c. Ways in: Child::start(), resume().
//
//   start    fork; the new process waits at a pipe, so that probes can be attached to its id
//   resume   a byte through the pipe; it runs the command, or tells by another pipe why not
//
// If flowtap dies before resume, the pipe closes and the process ends without having run. If it
// dies later the kernel sends SIGTERM, which is also how flowtap ends a command. Not to one that is
// set-user-ID or has file capabilities: exec then forgets what should be sent.

#include "runtime/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace flowtap {
namespace {

// A word of a command, character by character.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> run() {
    for (at_ = 0; at_ < text_.size(); at_++) take(text_[at_]);
    if (quote_) return Error{fmt::format("a {} is not closed in '{}'", *quote_, text_)};
    finish_word();
    if (words_.empty()) return Error{"the command is empty"};
    return words_;
  }

 private:
  void take(char c) {
    bool is_escape = c == '\\' && quote_ != '\'' && at_ + 1 < text_.size();
    if (is_escape)
      add(text_[++at_]);
    else if (quote_)
      c == *quote_ ? quote_.reset() : add(c);
    else if (c == '\'' || c == '"')
      open_quote(c);
    else if (c == ' ' || c == '\t' || c == '\n')
      finish_word();
    else
      add(c);
  }
  void open_quote(char c) {
    quote_ = c;
    is_in_word_ = true;  // '' is a word, an empty one
  }
  void add(char c) {
    word_ += c;
    is_in_word_ = true;
  }
  void finish_word() {
    if (is_in_word_) words_.push_back(std::move(word_));
    word_.clear();
    is_in_word_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::optional<char> quote_;
  bool is_in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

// As execvp(3) will look for it, only earlier: a typing error should not cost a compilation.
bool can_be_run(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  for (const std::string& directory : split(path ? path : "/usr/bin:/bin", ':'))
    if (::access(fmt::format("{}/{}", directory, program).c_str(), X_OK) == 0) return true;
  return false;
}

// The other side of the fork. Only system calls from here on: another thread may have held any
// lock at the time of the fork.
[[noreturn]] void wait_and_exec(pid_t parent, int go, int result, char* const* arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // it died before the call
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char byte;
  if (::read(go, &byte, 1) != 1) ::_exit(127);
  ::execvp(arguments[0], arguments);
  int code = errno;
  ssize_t ignored = ::write(result, &code, sizeof code);
  (void)ignored;
  ::_exit(127);
}

// Room for a well-behaved program to clean up.
constexpr int kStopMilliseconds = 1000;

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view command) {
  return Splitter(command).run();
}

Result<Child> Child::start(std::string_view command) {
  Result<std::vector<std::string>> words = split_command(command);
  if (!words) return words.error();
  if (!can_be_run(words->front()))
    return Error{fmt::format("cannot run '{}'", words->front()), ENOENT};
  std::vector<char*> arguments;
  for (std::string& word : *words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int go[2], result[2];
  if (::pipe2(go, O_CLOEXEC) < 0) return errno_error("cannot make a pipe");
  Fd go_out(go[0]), go_in(go[1]);
  if (::pipe2(result, O_CLOEXEC) < 0) return errno_error("cannot make a pipe");
  Fd result_out(result[0]), result_in(result[1]);

  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0) return errno_error("cannot make a process");
  if (pid == 0) {
    ::close(go[1]);  // or it would wait for itself
    wait_and_exec(parent, go[0], result[1], arguments.data());
  }
  Child child;
  child.pid_ = pid;
  child.name_ = words->front();
  child.go_ = std::move(go_in);
  child.result_ = std::move(result_out);
  child.pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd_.valid())
    return errno_error("cannot watch a process", "pidfd_open(2) needs Linux 5.3 or later");
  return child;
}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  stop();
  pid_ = std::move(other.pid_);
  name_ = std::move(other.name_);
  is_running_ = other.is_running_;
  pidfd_ = std::move(other.pidfd_);
  go_ = std::move(other.go_);
  result_ = std::move(other.result_);
  return *this;
}

Status Child::resume() {
  if (::write(go_.get(), "", 1) != 1) return errno_error(fmt::format("cannot start '{}'", name_));
  is_running_ = true;
  int code = 0;
  ssize_t length;
  while ((length = ::read(result_.get(), &code, sizeof code)) < 0 && errno == EINTR) {
  }
  if (length == sizeof code) return Error{fmt::format("cannot run '{}'", name_), code};
  return Done{};
}

void Child::stop() {
  if (pid_ <= 0) return;
  go_.reset();
  if (is_running_ && ::waitpid(pid_, nullptr, WNOHANG) == pid_) {
    pid_ = 0;
    return;
  }
  ::kill(pid_, is_running_ ? SIGTERM : SIGKILL);
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN};
  if (::poll(&ended, 1, kStopMilliseconds) > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace flowtap
