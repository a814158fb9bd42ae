// Running shell commands. Way in: run_shell(). Not popen(3), since the command must not inherit
// the signals that we have blocked for the event loop.

#include "runtime/shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/process_tree.h"

namespace flowtap {
namespace {

struct SpawnSettings {
  SpawnSettings(int output) {
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
  }

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
};

// A command that runs when a signal comes has as long as we have to end; those that are started
// later (by end probes) may take their time, since another signal ends us.
class Patience {
 public:
  bool is_over() const { return is_limited_ && is_out_of_time(); }

 private:
  bool is_limited_ = !was_interrupted();
};

// What the command writes until it closes its output, or our patience is over.
std::string read_all(int fd, const Patience& patience) {
  constexpr int kStep = 100;  // milliseconds
  std::string text;
  char part[4096];
  while (!patience.is_over()) {
    pollfd more{.fd = fd, .events = POLLIN};
    if (::poll(&more, 1, kStep) <= 0) continue;
    ssize_t length = ::read(fd, part, sizeof part);
    if (length == 0 || (length < 0 && errno != EINTR)) break;
    if (length > 0) text.append(part, static_cast<size_t>(length));
  }
  return text;
}

// How it ended: as waitpid(2) has it. It may have closed its output and go on.
int wait_for(pid_t pid, const Patience& patience) {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 100'000};
  constexpr int kPausesToClean = 2000;
  int status = 0;
  for (int pauses = 0; ::waitpid(pid, &status, WNOHANG) == 0; ::nanosleep(&kPause, nullptr)) {
    if (!patience.is_over()) continue;
    if (pauses++ % kPausesToClean != 0) continue;
    for (pid_t one : process_tree(pid)) ::kill(one, pauses == 1 ? SIGTERM : SIGKILL);
  }
  return status;
}

}  // namespace

Result<std::string> run_shell(const std::string& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return errno_error("cannot make a pipe");
  Fd output(ends[0]), input(ends[1]);
  SpawnSettings settings(input.get());
  std::string copy = command;
  char shell[] = "sh", option[] = "-c";
  char* const arguments[] = {shell, option, copy.data(), nullptr};
  pid_t pid = 0;
  int code =
      ::posix_spawn(&pid, "/bin/sh", &settings.files, &settings.attributes, arguments, environ);
  if (code != 0) return Error{"cannot run /bin/sh for system()", code};
  input.reset();
  Patience patience;
  std::string text = read_all(output.get(), patience);
  int status = wait_for(pid, patience);
  if (WIFSIGNALED(status) && patience.is_over())
    return Error{fmt::format("command '{}' was ended by a signal to flowtap", command)};
  return text;
}

}  // namespace flowtap
