// Iterators in a thread; see iterators.h.

#include "runtime/iterators.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>

#include "kernel/run_program.h"

namespace flowtap {

Result<Iterators> Iterators::start(std::vector<int> links) {
  Iterators iterators;
  iterators.done_ = std::make_unique<Fd>(::eventfd(0, EFD_CLOEXEC));
  if (!iterators.done_->valid()) return errno_error("cannot make an eventfd");
  iterators.stop_ = std::make_unique<std::atomic<bool>>(false);
  iterators.error_ = std::make_unique<std::optional<Error>>();
  auto run_all = [links = std::move(links), done = iterators.done_.get(),
                  stop = iterators.stop_.get(), error = iterators.error_.get()] {
    for (int link : links) {
      Status run = run_iterator(link, stop);
      if (!run && !*error) *error = run.error();
    }
    uint64_t one = 1;
    ssize_t ignored = ::write(done->get(), &one, sizeof one);
    (void)ignored;
  };
  try {
    iterators.thread_ = std::thread(std::move(run_all));
  } catch (const std::system_error& error) {
    return Error{"cannot start a thread", error.code().value()};
  }
  return iterators;
}

Iterators::~Iterators() {
  if (stop_) stop();
  if (thread_.joinable()) thread_.join();
}

Status Iterators::finish() {
  if (thread_.joinable()) thread_.join();
  if (*error_) return **error_;
  return Done{};
}

}  // namespace flowtap
