#pragma once
// Signals as something to read, while the object lives.

#include <signal.h>

#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

class Signals {
 public:
  // Holds back SIGINT, SIGTERM, SIGHUP and SIGUSR1. One that is ignored stays so, as with nohup.
  static Result<Signals> hold();

  Signals(Signals&& other) = default;
  Signals& operator=(Signals&&) = default;
  ~Signals();

  int wait_fd() const { return fd_.get(); }
  // The next signal that has come, if any.
  std::optional<int> next();

 private:
  Signals() = default;

  Fd fd_;
  sigset_t before_ = {};
};

}  // namespace flowtap
