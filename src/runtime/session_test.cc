// Whole runs of images made by hand: what is written, in which order, and with which code.

#include "runtime/session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "bpf/assemble_for_test.h"
#include "kernel/bpf_for_test.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap {
namespace {

using testing_support::array_map;
using testing_support::Assembler;
using testing_support::FakeSymbolizer;
using testing_support::ringbuf_map;

AttachPoint begin_point() { return {.kind = ProbeKind::Begin, .name = "begin"}; }
AttachPoint end_point() { return {.kind = ProbeKind::End, .name = "end"}; }
AttachPoint interval_point(uint64_t milliseconds) {
  return {.kind = ProbeKind::Interval, .name = "interval", .period = milliseconds * 1'000'000};
}

Field number_field() { return {.name = "0", .type = int_type(8, true), .offset = kRecordHeader}; }

// printf("<text>%d\n", number)
Event printf_event(const std::string& text) {
  return {.kind = EventKind::Printf,
          .format = *parse_format(text + "%d\n"),
          .args = {number_field()},
          .size = kRecordHeader + 8};
}
Event exit_event() {
  return {.kind = EventKind::Exit, .args = {number_field()}, .size = kRecordHeader + 8};
}

// Events 0 and 1 print "a %d" and "b %d", 2 is exit. Map 0 is the ring buffer, 1 is @n.
class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    sources_.add("test.bt", "begin { }\n");
    image_.maps = {ringbuf_map(), array_map()};
    image_.maps[1].name = "@n";
    image_.maps[1].is_script_map = true;
    image_.maps[1].value = int_type(8, false);
    image_.ringbuf = 0;
    image_.events = {printf_event("a "), printf_event("b "), exit_event()};
  }

  void add(Assembler assembler) { image_.programs.push_back(assembler.program()); }

  SessionParts parts(Writer& writer) { return {image_, sources_, writer, context_}; }

  int run_text(const RunOptions& options = {}) {
    TextWriter writer(out_, diagnostics_, context_);
    std::optional<Refusal> refusal;
    Result<int> code = run(parts(writer), options, &refusal);
    EXPECT_TRUE(code) << code.error().message() << (refusal ? refusal->log : "");
    return code ? *code : -1;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{.symbolizer = symbolizer_};
  Sink out_{-1}, diagnostics_{-1};
  Sources sources_;
  Image image_;
};

TEST_F(SessionTest, begin_and_end_run_in_order_and_maps_follow) {
  add(Assembler("begin_1").record(0, 0, 1).count(1).done().at(begin_point()));
  add(Assembler("end_1").record(0, 1, 3).count(1).done().at(end_point()));
  add(Assembler("begin_2").record(0, 0, 2).done().at(begin_point()));
  EXPECT_EQ(run_text(), 0);
  EXPECT_EQ(out_.buffer(), "a 1\na 2\nb 3\n\n\n@n: 2\n");
  EXPECT_EQ(diagnostics_.buffer(), "Attached 3 probes\n");
}

TEST_F(SessionTest, exit_drops_what_was_written_after_it_but_not_the_end_probe) {
  add(Assembler().record(0, 0, 1).record(0, 2, 7).record(0, 0, 2).done().at(begin_point()));
  add(Assembler().record(0, 0, 3).done().at(begin_point()));
  add(Assembler().record(0, 1, 4).done().at(end_point()));
  EXPECT_EQ(run_text({.print_maps_on_exit = false, .quiet = true}), 7);
  EXPECT_EQ(out_.buffer(), "a 1\nb 4\n\n\n");
  EXPECT_EQ(diagnostics_.buffer(), "");
}

TEST_F(SessionTest, json_has_the_attached_line_first) {
  add(Assembler().record(0, 0, 1).done().at(begin_point()));
  JsonWriter writer(out_, context_);
  ASSERT_TRUE(run(parts(writer), {}));
  EXPECT_EQ(out_.buffer(),
            "{\"type\": \"attached_probes\", \"count\": 1, \"data\": {\"probes\": 1}}\n"
            "{\"type\": \"printf\", \"data\": \"a 1\\n\"}\n"
            "{\"type\": \"map\", \"data\": {\"@n\": 0}}\n");
}

TEST_F(SessionTest, an_interval_runs_until_exit) {
  add(Assembler("i", ProgramType::PerfEvent)
          .count(1)
          .load64(1, 2, 0)
          .skip_if_not(1, 3, 8 + 1)
          .record(0, 2, 5)
          .done()
          .at(interval_point(5)));
  EXPECT_EQ(run_text({.print_maps_on_exit = false}), 5);
  EXPECT_EQ(diagnostics_.buffer(), "Attached 1 probe\n");
}

}  // namespace
}  // namespace flowtap
