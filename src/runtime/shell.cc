// Running shell commands. Way in: run_shell(). Not popen(3), since the command must not inherit
// the signals that we have blocked for the event loop.

#include "runtime/shell.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

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

std::string read_all(int fd) {
  std::string text;
  char part[4096];
  ssize_t length;
  while ((length = ::read(fd, part, sizeof part)) > 0 || (length < 0 && errno == EINTR))
    if (length > 0) text.append(part, static_cast<size_t>(length));
  return text;
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
  std::string text = read_all(output.get());
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace flowtap
