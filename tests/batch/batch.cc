// Runs many command lines of flowtap in turn, for the tests in guests: there an emulated processor
// takes longer to start a program than to run a script. Entry point: main().
//
// Each request on standard input is the number of words, then the words, each ended by a zero byte.
// The answer on standard output is a line with the exit code (minus the signal that ended it) and
// the lengths of what it wrote to standard output and error, then both. Every command line has a
// process of its own, forked from this one.

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/driver.h"
#include "cli/guard.h"

namespace {

bool read_word(std::string& word) {
  word.clear();
  for (int c; (c = std::getchar()) != EOF; word += static_cast<char>(c))
    if (c == 0) return true;
  return false;
}

bool read_request(std::vector<std::string>& words) {
  std::string word;
  if (!read_word(word)) return false;
  words.assign(std::strtoul(word.c_str(), nullptr, 10), "");
  for (std::string& one : words)
    if (!read_word(one)) return false;
  return true;
}

int run(std::vector<std::string>& words) {
  std::string name = "flowtap";
  std::vector<char*> arguments = {name.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return flowtap::guarded([&] { return flowtap::drive(count, arguments.data()); });
}

int run_in_child(std::vector<std::string>& words, int out, int err) {
  pid_t child = ::fork();
  if (child == 0) {
    std::freopen("/dev/null", "r", stdin);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::close(out);
    ::close(err);
    std::exit(run(words));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) std::exit(1);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// What a file has, from its beginning; empties it.
std::string taken_from(int file) {
  std::string text(static_cast<size_t>(::lseek(file, 0, SEEK_END)), '\0');
  if (::pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::exit(1);
  if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0) std::exit(1);
  return text;
}

}  // namespace

int main() {
  ::prctl(PR_SET_NAME, "flowtap");  // as `comm` shows it
  int out = ::memfd_create("out", MFD_CLOEXEC), err = ::memfd_create("err", MFD_CLOEXEC);
  if (out < 0 || err < 0) return 1;
  std::vector<std::string> words;
  while (read_request(words)) {
    int code = run_in_child(words, out, err);
    std::string text = taken_from(out), messages = taken_from(err);
    std::printf("%d %zu %zu\n", code, text.size(), messages.size());
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fwrite(messages.data(), 1, messages.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
