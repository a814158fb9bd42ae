#pragma once
// Descriptors that the event loop waits for, each with what is done when it is ready.

#include <poll.h>

#include <functional>
#include <vector>

#include "base/result.h"

namespace flowtap {

class EventSources {
 public:
  using Ready = std::function<Status()>;

  // The descriptor stays the caller's, who removes it before it is closed.
  void add(int fd, Ready ready);
  void remove(int fd);
  // Whether it is waited for; it stays here.
  void set_paused(int fd, bool is_paused);

  // Until one is ready, for as many milliseconds, or for ever with -1. A signal ends the wait, too.
  Status wait(int timeout);
  // What wait() found. One that was removed meanwhile is passed over.
  Status run_ready();

 private:
  struct Source {
    int fd;
    Ready ready;
    bool is_paused = false;
  };
  Source* find(int fd);

  std::vector<Source> sources_;
  std::vector<pollfd> polled_;
};

}  // namespace flowtap
