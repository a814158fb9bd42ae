#pragma once
// Child: the command of -c, which waits until everything is attached.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

// "a 'b c' d\ e" -> a, b c, d e. No shell: no variables, no globs, no pipes.
Result<std::vector<std::string>> split_command(std::string_view command);

class Child {
 public:
  // Makes the process, which has its id from now on but runs nothing yet.
  static Result<Child> start(std::string_view command);

  Child(Child&&) = default;
  Child& operator=(Child&& other) noexcept;
  ~Child() { stop(); }

  pid_t pid() const { return pid_; }
  // Readable once the process has ended.
  int wait_fd() const { return pidfd_.get(); }
  // Lets it run the command.
  Status resume();
  // Ends it, if it has not ended by itself, and forgets it.
  void stop();

 private:
  Child() = default;

  struct Pid {  // 0 after a move
    Pid() = default;
    Pid(pid_t pid) : value(pid) {}
    Pid(Pid&& other) noexcept : value(std::exchange(other.value, 0)) {}
    Pid& operator=(Pid&& other) noexcept {
      value = std::exchange(other.value, 0);
      return *this;
    }
    operator pid_t() const { return value; }
    pid_t value = 0;
  };

  Pid pid_;
  std::string name_;
  bool is_running_ = false;  // it was told to
  Fd pidfd_;
  Fd go_;      // a byte here starts it; its closing ends it
  Fd result_;  // the errno of execvp, or nothing
};

}  // namespace flowtap
