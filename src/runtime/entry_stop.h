#pragma once
// EntryStop: holds a command at its first instruction, when the dynamic linker has mapped all its
// libraries and nothing of its own has run.

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"

namespace flowtap {

class EntryStop {
 public:
  // Watches a child of ours that has not called exec yet.
  static Result<EntryStop> watch(pid_t pid);

  EntryStop(EntryStop&& other) noexcept;
  EntryStop& operator=(EntryStop&&) = delete;
  ~EntryStop() { let_go(); }

  // After exec. Whether the command is held now; not when it has ended, or took too long.
  bool wait();
  // It runs on by itself, as if nobody had been there.
  void let_go();

 private:
  explicit EntryStop(pid_t pid) : pid_(pid) {}
  bool wait_for_stop(int& status);
  bool set_breakpoint();
  bool is_at_breakpoint();
  void remove_breakpoint();

  pid_t pid_ = 0;  // 0: not watched any more
  bool is_stopped_ = false;
  uint64_t entry_ = 0;  // 0: there is no breakpoint
  long code_ = 0;       // what was there before
};

}  // namespace flowtap
