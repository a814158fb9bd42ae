#pragma once
// Iterators run beside the event loop, which must empty the ring buffer meanwhile.

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

class Iterators {
 public:
  // Runs one after the other, in a thread. The links stay the caller's and must stay open.
  static Result<Iterators> start(std::vector<int> links);

  Iterators(Iterators&&) = default;
  Iterators& operator=(Iterators&&) = default;
  ~Iterators();

  // Readable once all are done.
  int wait_fd() const { return done_->get(); }
  // They end as soon as the kernel comes back from its round.
  void stop() { *stop_ = true; }
  // Waits for the end, and says whether all went well.
  Status finish();

 private:
  Iterators() = default;

  std::unique_ptr<Fd> done_;
  std::unique_ptr<std::atomic<bool>> stop_;
  std::unique_ptr<std::optional<Error>> error_;
  std::thread thread_;
};

}  // namespace flowtap
