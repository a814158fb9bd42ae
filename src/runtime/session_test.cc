// Whole runs of images made by hand: what is written, in which order, and with which code.

#include "runtime/session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "bpf/assemble_for_test.h"
#include "kernel/bpf_for_test.h"
#include "live/live_target.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"
#include "symbols/elf_file.h"

// What uprobes hang on.
extern "C" __attribute__((noinline)) void flowtap_ordered_function() { asm volatile(""); }

namespace flowtap {
namespace {

using testing_support::array_map;
using testing_support::Assembler;
using testing_support::FakeSymbolizer;
using testing_support::ringbuf_map;

AttachPoint begin_point() { return {.kind = ProbeKind::Begin, .name = "begin"}; }
AttachPoint end_point() { return {.kind = ProbeKind::End, .name = "end"}; }
AttachPoint interval_point(uint64_t milliseconds) {
  return {.kind = ProbeKind::Interval, .name = "interval", .period_ns = milliseconds * 1'000'000};
}

Field number_field() { return {.name = "0", .type = int_type(8, true), .offset = kRecordHeader}; }

// printf("<text>%d\n", number)
Event printf_event(const std::string& text) {
  return {.kind = EventKind::Printf,
          .format = *parse_format(text + "%d\n"),
          .args = {number_field()},
          .size = kRecordHeader + 8};
}
Event exit_event() { return {.kind = EventKind::Exit}; }

// Something that keeps a script waiting for longer than any test takes.
Assembler idle() {
  return Assembler("idle", ProgramType::PerfEvent).done().at(interval_point(1000000));
}

// Events 0 and 1 print "a %d" and "b %d", 2 is exit. Map 0 is the ring buffer, 1 is
// @n, 2 the exit cell.
class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    sources_.add("test.bt", "begin { }\n");
    image_.maps = {ringbuf_map(), array_map(), array_map(kExitCellSize)};
    image_.maps[2].is_mapped = true;
    image_.exit_cell = 2;
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
  add(Assembler().record(0, 0, 1).set_exit_cell(2, 7).record(0, 2, 0).record(0, 0, 2).done().at(
      begin_point()));
  add(Assembler().record(0, 0, 3).done().at(begin_point()));
  add(Assembler().record(0, 1, 4).done().at(end_point()));
  EXPECT_EQ(run_text({.print_maps_on_exit = false, .quiet = true}), 7);
  EXPECT_EQ(out_.buffer(), "a 1\nb 4\n\n\n");
  EXPECT_EQ(diagnostics_.buffer(), "");
}

TEST_F(SessionTest, exit_needs_no_record) {
  add(idle());
  add(Assembler().record(0, 0, 1).set_exit_cell(2, 7).done().at(begin_point()));
  add(Assembler().record(0, 1, 4).done().at(end_point()));
  EXPECT_EQ(run_text({.print_maps_on_exit = false, .quiet = true}), 7);
  EXPECT_EQ(out_.buffer(), "a 1\nb 4\n\n\n");
}

TEST_F(SessionTest, json_has_the_attached_line_first) {
  add(Assembler().record(0, 0, 1).done().at(begin_point()));
  JsonWriter writer(out_, context_);
  ASSERT_TRUE(run(parts(writer), {}));
  EXPECT_EQ(out_.buffer(),
            "{\"type\": \"attached_probes\", \"count\": 1, \"data\": {\"probes\": 1}}\n"
            "{\"type\": \"printf\", \"data\": \"a 1\\n\"}\n");
}

TEST_F(SessionTest, an_interval_runs_until_exit) {
  add(Assembler("i", ProgramType::PerfEvent)
          .count(1)
          .load64(1, 2, 0)
          .skip_if_not(1, 3, 4 + 8 + 1)
          .set_exit_cell(2, 5)
          .record(0, 2, 0)
          .done()
          .at(interval_point(5)));
  EXPECT_EQ(run_text({.print_maps_on_exit = false}), 5);
  EXPECT_EQ(diagnostics_.buffer(), "Attached 1 probe\n");
}

// --- what ends a run ----------------------------------------------------------------------------

// Does `act` when the probes are attached. The line about them is how others know it as well.
class Watched : public TextWriter {
 public:
  Watched(Sink& data, Sink& diagnostics, const ValueContext& context, std::function<void()> act)
      : TextWriter(data, diagnostics, context), act_(std::move(act)) {}
  void attached_probes(uint64_t) override { act_(); }

 private:
  std::function<void()> act_;
};

TEST_F(SessionTest, a_signal_ends_it_and_end_probes_run) {
  for (int signal : {SIGINT, SIGTERM}) {
    image_.programs.clear();
    add(idle());
    add(Assembler("end").record(0, 1, 3).done().at(end_point()));
    Watched writer(out_, diagnostics_, context_, [&] { ::kill(::getpid(), signal); });
    Result<int> code = run(parts(writer), {.print_maps_on_exit = false});
    ASSERT_TRUE(code) << code.error().message();
    EXPECT_EQ(*code, 0);
    EXPECT_EQ(std::exchange(out_.buffer(), {}), "b 3\n\n\n");
  }
}

TEST_F(SessionTest, a_second_signal_soon_after_the_first_changes_nothing) {
  ::signal(SIGINT, SIG_DFL);  // ignored where tests run in the background
  add(idle());
  add(Assembler("end").record(0, 0, 1).done().at(end_point()));
  image_.events[EventId(0)] = {.kind = EventKind::System, .format = *parse_format("kill -INT %d")};
  image_.events[EventId(0)].args = {number_field()};
  image_.events[EventId(0)].size = kRecordHeader + 8;
  pid_t pid = ::fork();
  if (pid == 0) {
    image_.programs[1] = Assembler("end").record(0, 0, ::getpid()).done().at(end_point()).program();
    Watched writer(out_, diagnostics_, context_, [] { ::kill(::getpid(), SIGINT); });
    (void)run(parts(writer), {});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST_F(SessionTest, sigusr1_runs_self_probes_and_does_not_end_it) {
  add(Assembler("self").record(0, 0, 5).set_exit_cell(2, 0).record(0, 2, 0).done().at(
      {.kind = ProbeKind::Self, .name = "self:signal:SIGUSR1", .self_event = "signal"}));
  Watched writer(out_, diagnostics_, context_, [] { ::kill(::getpid(), SIGUSR1); });
  ASSERT_TRUE(run(parts(writer), {.print_maps_on_exit = false}));
  EXPECT_EQ(out_.buffer(), "a 5\n\n\n");
}

TEST_F(SessionTest, the_end_of_the_child_ends_it) {
  add(idle());
  Result<Child> child = Child::start("true");
  ASSERT_TRUE(child);
  EXPECT_EQ(run_text({.child = &*child}), 0);
}

TEST_F(SessionTest, the_child_is_looked_at_while_it_lives) {
  add(idle());
  Result<Child> child = Child::start("sleep 0.05");
  ASSERT_TRUE(child);
  pid_t pid = child->pid();
  int looks = 0;
  auto look = [&](pid_t looked_at) {
    EXPECT_EQ(looked_at, pid);
    looks++;
  };
  EXPECT_EQ(run_text({.child = &*child, .look_at_process = look}), 0);
  EXPECT_GE(looks, 3);
}

TEST_F(SessionTest, the_child_ends_with_it) {
  add(Assembler().set_exit_cell(2, 4).record(0, 2, 0).done().at(begin_point()));
  Result<Child> child = Child::start("sleep 1000");
  ASSERT_TRUE(child);
  pid_t pid = child->pid();
  EXPECT_EQ(run_text({.child = &*child}), 4);
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(SessionTest, the_end_of_the_process_ends_it) {
  add(idle());
  Result<Child> process = Child::start("sleep 0.1");
  ASSERT_TRUE(process);
  pid_t pid = process->pid();
  Watched writer(out_, diagnostics_, context_, [&] { (void)process->resume(); });
  Result<int> code = run(parts(writer), {.pid = pid});
  EXPECT_TRUE(code) << code.error().message();
}

TEST_F(SessionTest, a_process_that_is_not_there_is_refused) {
  TextWriter writer(out_, diagnostics_, context_);
  Result<int> code = run(parts(writer), {.pid = 4194304});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().what, "cannot watch process 4194304");
}

TEST_F(SessionTest, closed_output_ends_it) {
  add(idle());
  EXPECT_EQ(run_text({.is_output_closed = [] { return true; }}), 0);
}

TEST_F(SessionTest, a_dry_run_attaches_and_does_nothing) {
  add(Assembler().record(0, 0, 1).done().at(begin_point()));
  add(idle());
  EXPECT_EQ(run_text({.dry_run = true}), 0);
  EXPECT_EQ(out_.buffer(), "");
  EXPECT_EQ(diagnostics_.buffer(), "Attached 2 probes\n");
}

// --- attaching ----------------------------------------------------------------------------------

Assembler traced(int32_t number, ProgramType type, AttachPoint point) {
  return Assembler("traced", type).only_process(::getpid()).record(0, 0, number).done().at(point);
}

// Ends the script on the last call that the test makes.
void make_calls_and_end() {
  ::syscall(SYS_getpgid, 0);
  flowtap_ordered_function();
  ::kill(::getpid(), SIGINT);
}

TEST_F(SessionTest, blocks_on_one_event_run_as_the_script_has_them) {
  AttachPoint tracepoint{.kind = ProbeKind::Tracepoint,
                         .name = "t",
                         .target = "syscalls",
                         .function = "sys_enter_getpgid"};
  AttachPoint uprobe{.kind = ProbeKind::Uprobe, .name = "u", .target = "/proc/self/exe"};
  Result<ElfFile> file = ElfFile::open("/proc/self/exe");
  for (const UserFunction& function : file->functions().found)
    if (function.name == "flowtap_ordered_function") uprobe.file_offset = function.file_offset;
  ASSERT_NE(uprobe.file_offset, 0u);
  AttachPoint uretprobe = uprobe;
  uretprobe.kind = ProbeKind::Uretprobe;
  for (int i = 1; i <= 3; i++) {
    add(traced(i, ProgramType::Tracepoint, tracepoint));
    add(traced(10 + i, ProgramType::Kprobe, uprobe));
    add(traced(20 + i, ProgramType::Kprobe, uretprobe));
  }
  Watched writer(out_, diagnostics_, context_, make_calls_and_end);
  std::optional<Refusal> refusal;
  Result<int> code = run(parts(writer), {.print_maps_on_exit = false}, &refusal);
  ASSERT_TRUE(code) << code.error().message() << (refusal ? refusal->log : "");
  EXPECT_EQ(out_.buffer(), "a 1\na 2\na 3\na 11\na 12\na 13\na 21\na 22\na 23\n\n\n");
}

TEST_F(SessionTest, what_cannot_be_attached_ends_it_unless_forgiven) {
  add(Assembler().record(0, 0, 1).done().at(begin_point()));
  add(Assembler("t", ProgramType::Tracepoint)
          .done()
          .at({.kind = ProbeKind::Tracepoint, .name = "t", .target = "no", .function = "no"}));
  TextWriter writer(out_, diagnostics_, context_);
  Result<int> code = run(parts(writer), {});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ENOENT);
  EXPECT_EQ(std::exchange(out_.buffer(), {}), "a 1\n");

  add(Assembler().set_exit_cell(2, 0).record(0, 2, 0).done().at(begin_point()));
  std::string forgiven;
  RunOptions options{.print_maps_on_exit = false,
                     .forgive = [&](const AttachPoint& point, const Error&) {
                       forgiven = point.name;
                       return true;
                     }};
  EXPECT_EQ(run_text(options), 0);
  EXPECT_EQ(forgiven, "t");
  EXPECT_EQ(diagnostics_.buffer(), "Attached 2 probes\n");
}

// Not only uprobes: any kind of event may be one of many.
TEST_F(SessionTest, a_group_goes_on_without_what_cannot_be_attached) {
  auto point = [](const std::string& event) {
    return AttachPoint{.kind = ProbeKind::RawTracepoint,
                       .name = "rawtracepoint:" + event,
                       .function = event,
                       .is_one_of_many = true,
                       .group = {0, 0, 5},
                       .span = {0, 0, 5}};
  };
  add(Assembler("missing").done().at(point("no_such_event")));
  EXPECT_FALSE(run(parts(*std::make_unique<TextWriter>(out_, diagnostics_, context_)), {}));
  diagnostics_.buffer().clear();

  add(Assembler("present").done().at(point("sched_switch")));
  EXPECT_EQ(run_text({.print_maps_on_exit = false, .dry_run = true}), 0);
  EXPECT_EQ(diagnostics_.buffer(),
            "test.bt:1:1-6: warning: 1 of 2 places could not be attached: No such file or "
            "directory (1); -v lists them\n  1 | begin { }\n    | ^^^^^\nAttached 1 probe\n");
}

TEST_F(SessionTest, an_iterator_runs_once_and_ends_it) {
  LiveTarget target;
  Result<FunctionSignature> signature = target.iterator("task");
  if (!signature) GTEST_SKIP() << signature.error().message();
  Assembler code("iter", ProgramType::Iter);
  code.count(1).done().at({.kind = ProbeKind::Iter, .name = "iter:task"});
  code.program().attach_btf_id = signature->btf_id;
  add(code);
  EXPECT_EQ(run_text(), 0);
  EXPECT_TRUE(out_.buffer().starts_with("\n\n@n: ")) << out_.buffer();
  EXPECT_NE(out_.buffer(), "\n\n@n: 0\n");
}

// --- what goes wrong ----------------------------------------------------------------------------

TEST_F(SessionTest, records_that_make_no_sense_are_reported) {
  add(Assembler().record(0, 99, 1).record(0, 0, 2).done().at(begin_point()));
  EXPECT_EQ(run_text({.print_maps_on_exit = false}), 0);
  EXPECT_EQ(out_.buffer(), "a 2\n\n\n");
  EXPECT_NE(diagnostics_.buffer().find("1 record could not be understood"), std::string::npos);
}

TEST_F(SessionTest, tests_are_run_one_by_one) {
  add(Assembler().done());
  add(Assembler().set_exit_cell(2, 7).record(0, 2, 0).done());
  add(Assembler().mov(0, 9).exit());
  image_.events.push_back({.kind = EventKind::Errorf, .format = *parse_format("bad")});
  add(Assembler().record(0, 3, 0).done());
  TextWriter writer(out_, diagnostics_, context_);
  Result<Session> session = Session::load(parts(writer), {});
  ASSERT_TRUE(session) << session.error().message();
  const uint32_t expected[] = {0, 1, 9, 1};
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(*session->run(i), expected[i]);
  EXPECT_EQ(*session->run(0), 0u);
  EXPECT_EQ(session->stats()->size(), 4u);
}

}  // namespace
}  // namespace flowtap
