// Waiting for descriptors; see event_sources.h.

#include "runtime/event_sources.h"

#include <algorithm>
#include <cerrno>

namespace flowtap {

EventSources::Source* EventSources::find(int fd) {
  auto found = std::find_if(sources_.begin(), sources_.end(),
                            [&](const Source& source) { return source.fd == fd; });
  return found == sources_.end() ? nullptr : &*found;
}

void EventSources::add(int fd, Ready ready) { sources_.push_back({fd, std::move(ready)}); }

void EventSources::remove(int fd) {
  std::erase_if(sources_, [&](const Source& source) { return source.fd == fd; });
}

void EventSources::set_paused(int fd, bool is_paused) {
  if (Source* source = find(fd)) source->is_paused = is_paused;
}

Status EventSources::wait(int timeout) {
  polled_.clear();
  for (const Source& source : sources_)
    if (!source.is_paused) polled_.push_back({.fd = source.fd, .events = POLLIN, .revents = 0});
  int ready = ::poll(polled_.data(), polled_.size(), timeout);
  if (ready <= 0) polled_.clear();
  if (ready < 0 && errno != EINTR) return errno_error("cannot wait for events");
  return Done{};
}

Status EventSources::run_ready() {
  for (const pollfd& polled : polled_) {
    Source* source = polled.revents ? find(polled.fd) : nullptr;
    if (!source) continue;
    Ready ready = source->ready;  // it may remove itself
    if (Status done = ready(); !done) return done;
  }
  return Done{};
}

}  // namespace flowtap
