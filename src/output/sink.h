#pragma once
// Sink: where finished text goes. By default it collects text in memory and writes it when flowtap
// has no event to read, or when there is much of it, so that an event costs no system call.

#include <string>

namespace flowtap {

// When text is written: when flush() is called, with each record, with each line, or when there are
// 64 KB of it.
enum class Buffering { Flush, None, Line, Full };

class Sink {
 public:
  // The descriptor stays the caller's. With a negative one nothing is ever written and all text
  // stays in buffer(), which is what tests and in-process readers use.
  explicit Sink(int fd, bool is_terminal = false, Buffering buffering = Buffering::Flush)
      : fd_(fd), is_terminal_(is_terminal), buffering_(buffering) {}

  bool is_terminal() const { return is_terminal_; }

  // What the file has is dropped before the first byte is written, or by begin(), whichever comes
  // first. Not by those who only append to a pipe or a terminal.
  void replace_content() { replaces_ = true; }
  void begin();

  // Append whole records here, then call commit().
  std::string& buffer() { return buffer_; }
  void commit();
  void flush();   // what may be written now
  void finish();  // everything: nothing follows

  // The errno of the first write that failed, after which text is thrown away; 0 while all is
  // well. A closed pipe (EPIPE) is how `| head` says enough. EAGAIN: nobody reads, and a signal has
  // told us to end.
  int error() const { return error_; }

 private:
  bool wait_for_reader();

  static constexpr size_t kFlushAt = 64 * 1024;

  void write_out(size_t size);

  int fd_;
  bool is_terminal_;
  Buffering buffering_;
  bool replaces_ = false;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace flowtap
