#pragma once
// Sink: where finished text goes. It collects in memory and writes only when told to, or when
// much has come together, so that an event costs no system call.

#include <string>

namespace flowtap {

class Sink {
 public:
  // The descriptor stays the caller's. With a negative one nothing is ever written and all text
  // stays in buffer(), which is what tests and in-process readers use.
  explicit Sink(int fd, bool is_terminal = false) : fd_(fd), is_terminal_(is_terminal) {}

  bool is_terminal() const { return is_terminal_; }

  // Append whole records here, then call commit().
  std::string& buffer() { return buffer_; }
  void commit() {
    if (fd_ >= 0 && buffer_.size() >= kFlushAt) flush();
  }
  void flush();

  // The errno of the first write that failed, after which text is thrown away; 0 while all is
  // well. A closed pipe (EPIPE) is how `| head` says enough.
  int error() const { return error_; }

 private:
  static constexpr size_t kFlushAt = 64 * 1024;

  int fd_;
  bool is_terminal_;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace flowtap
