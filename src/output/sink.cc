// Writing a sink's buffer out. The descriptor may be a pipe, a terminal or a file, and may have
// been made non-blocking by whoever else holds it.

#include "output/sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace flowtap {

void Sink::flush() {
  if (fd_ < 0) return;
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      struct pollfd waiting = {.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

}  // namespace flowtap
