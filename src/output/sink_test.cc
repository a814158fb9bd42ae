#include "output/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace flowtap {
namespace {

struct Pipe {
  Fd reader, writer;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::string drain(const Fd& fd) {
  char text[256];
  ssize_t size = read(fd.get(), text, sizeof(text));
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
}

TEST(SinkTest, writes_when_flushed) {
  Pipe pipe = make_pipe();
  Sink sink(pipe.writer.get());
  sink.buffer() += "hello";
  sink.commit();
  EXPECT_EQ(drain(pipe.reader), "") << "a little text waits";
  sink.flush();
  EXPECT_EQ(drain(pipe.reader), "hello");
  EXPECT_TRUE(sink.buffer().empty());
  EXPECT_EQ(sink.error(), 0);
}

TEST(SinkTest, much_text_is_written_at_once) {
  Pipe pipe = make_pipe();
  Sink sink(pipe.writer.get());
  sink.buffer().assign(64 * 1024, 'x');
  sink.commit();
  EXPECT_TRUE(sink.buffer().empty());
  EXPECT_EQ(drain(pipe.reader).substr(0, 3), "xxx");
}

TEST(SinkTest, buffering_decides_what_is_written_when) {
  struct {
    Buffering buffering;
    const char *with_record, *when_flushed, *at_end;
  } cases[] = {{Buffering::Flush, "", "one\ntwo", ""},
               {Buffering::None, "one\ntwo", "", ""},
               {Buffering::Line, "one\n", "", "two"},
               {Buffering::Full, "", "", "one\ntwo"}};
  for (const auto& c : cases) {
    Pipe pipe = make_pipe();
    Sink sink(pipe.writer.get(), false, c.buffering);
    sink.buffer() += "one\ntwo";
    sink.commit();
    EXPECT_EQ(drain(pipe.reader), c.with_record);
    sink.flush();
    EXPECT_EQ(drain(pipe.reader), c.when_flushed);
    sink.finish();
    EXPECT_EQ(drain(pipe.reader), c.at_end);
  }
}

TEST(SinkTest, failed_write_is_remembered) {
  Sink sink(open("/dev/full", O_WRONLY | O_CLOEXEC));
  sink.buffer() += "x";
  sink.flush();
  EXPECT_EQ(sink.error(), ENOSPC);
  EXPECT_TRUE(sink.buffer().empty());
}

TEST(SinkTest, without_descriptor_text_stays) {
  Sink sink(-1);
  sink.buffer() += "kept";
  sink.flush();
  EXPECT_EQ(sink.buffer(), "kept");
}

}  // namespace
}  // namespace flowtap
