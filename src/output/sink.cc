// Writing a sink's buffer out. The descriptor may be a pipe, a terminal or a file, and may have
// been made non-blocking by whoever else holds it.

#include "output/sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/interrupt.h"

namespace flowtap {

void Sink::begin() {
  if (!std::exchange(replaces_, false)) return;
  if (::ftruncate(fd_, 0) != 0 && errno != EINVAL) error_ = errno;  // EINVAL: it is not a file
}

void Sink::commit() {
  bool is_much = buffer_.size() >= kFlushAt;
  if (is_much || buffering_ == Buffering::None) return finish();
  if (buffering_ == Buffering::Line) flush();
}

// False when a signal wants us to end and the reader takes nothing for a while.
bool Sink::wait_for_reader() {
  constexpr int kStep = 100, kPatience = 5;  // milliseconds, steps
  for (int steps = 0; steps < kPatience;) {
    struct pollfd waiting = {.fd = fd_, .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, kStep) != 0) return true;
    if (should_give_up_output()) steps++;
  }
  return false;
}

void Sink::flush() {
  switch (buffering_) {
    case Buffering::Full: return;
    case Buffering::Line: return write_out(buffer_.rfind('\n') + 1);
    default: finish();
  }
}

void Sink::finish() { write_out(buffer_.size()); }

// Text that cannot be written is thrown away.
void Sink::write_out(size_t size) {
  if (fd_ < 0 || size == 0) return;
  begin();
  std::string_view rest = std::string_view(buffer_).substr(0, size);
  while (!rest.empty() && error_ == 0) {
    ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      if (!wait_for_reader()) error_ = EAGAIN;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.erase(0, size);
}

}  // namespace flowtap
