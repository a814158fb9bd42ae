// Every kind of probe that a machine lets us attach, on events of the test's own making, counted
// exactly where the event is exact. What the machine does not have must be refused with a reason.

#include "attach/attach.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "attach/detach.h"
#include "base/page.h"
#include "bpf/assemble_for_test.h"
#include "kernel/bpf_for_test.h"
#include "kernel/run_program.h"
#include "live/live_target.h"
#include "load/load.h"
#include "symbols/elf_file.h"

// What uprobes hang on. The asm keeps the calls from being joined or left out.
extern "C" __attribute__((noinline)) int flowtap_probed_function(int n) {
  asm volatile("" : "+r"(n));
  return n + 1;
}
// In .data, where a reference counter of the file's has a place.
extern "C" {
__attribute__((section(".data"), used)) volatile unsigned short flowtap_semaphore = 0;
}

namespace flowtap {
namespace {

using testing_support::array_map;
using testing_support::Assembler;

volatile uint64_t watched = 0;

class AttachTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    image_.maps = {array_map()};
  }

  // A program that counts events; with a process, only those of this one.
  Assembler counter(ProgramType type, bool is_own = true) {
    Assembler code("count", type);
    if (is_own) code.only_process(::getpid());
    return code.count(0).done();
  }

  Result<Attachment> attach_one(Assembler code, AttachPoint point, AttachOptions options = {}) {
    point.name = "probe";
    image_.programs = {code.at(point).program()};
    std::optional<Refusal> refusal;
    Result<LoadedImage> loaded = load(image_, {}, &refusal);
    EXPECT_TRUE(loaded) << loaded.error().message() << (refusal ? refusal->log : "");
    if (!loaded) return loaded.error();
    loaded_ = std::move(*loaded);
    options.uprobe_multi = loaded_.uprobe_multi;
    return attach(image_.programs[0], point, loaded_.programs[0].get(), options);
  }

  uint64_t count() const {
    uint32_t key = 0;
    uint64_t value = 0;
    EXPECT_EQ(::bpf_map_lookup_elem(loaded_.maps[0].get(), &key, &value), 0);
    return value;
  }

  Image image_;
  LoadedImage loaded_;
};

#define ASSERT_ATTACHED(attachment) ASSERT_TRUE(attachment) << (attachment).error().message()

// As soon as the links are closed nothing runs any more.
void release(Attachment& attachment) { attachment.links.clear(); }

void spin(std::chrono::milliseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Calls that nobody else makes meanwhile.
void make_calls(int n) {
  for (int i = 0; i < n; i++) ::syscall(SYS_getpgid, 0);
}

AttachPoint getpgid_point() {
  return {.kind = ProbeKind::Tracepoint, .target = "syscalls", .function = "sys_enter_getpgid"};
}

TEST_F(AttachTest, a_tracepoint_counts_exactly_and_stops_when_closed) {
  Result<Attachment> attached = attach_one(counter(ProgramType::Tracepoint), getpgid_point());
  ASSERT_ATTACHED(attached);
  make_calls(101);
  EXPECT_EQ(count(), 101u);
  release(*attached);
  make_calls(5);
  EXPECT_EQ(count(), 101u);
}

TEST_F(AttachTest, a_tracepoint_that_is_not_there_says_so) {
  AttachPoint point = getpgid_point();
  point.function = "no_such_event";
  Result<Attachment> attached = attach_one(counter(ProgramType::Tracepoint), point);
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ENOENT);
  EXPECT_TRUE(attached.error().what.starts_with("cannot attach to 'probe': cannot read '"));
}

TEST_F(AttachTest, a_raw_tracepoint_by_name) {
  AttachPoint point{.kind = ProbeKind::RawTracepoint, .function = "sys_enter"};
  Result<Attachment> attached = attach_one(counter(ProgramType::RawTracepoint), point);
  ASSERT_ATTACHED(attached);
  make_calls(50);
  EXPECT_GE(count(), 50u);
}

TEST_F(AttachTest, a_raw_tracepoint_by_btf) {
  LiveTarget target;
  Result<FunctionSignature> signature = target.raw_tracepoint("sys_enter");
  if (!signature) GTEST_SKIP() << signature.error().message();
  Assembler code = counter(ProgramType::BtfTracepoint);
  code.program().attach_btf_id = signature->btf_id;
  AttachPoint point{.kind = ProbeKind::RawTracepoint, .function = "sys_enter"};
  Result<Attachment> attached = attach_one(code, point);
  ASSERT_ATTACHED(attached);
  make_calls(50);
  EXPECT_GE(count(), 50u);
}

// --- user functions -----------------------------------------------------------------------------

constexpr const char* kSelf = "/proc/self/exe";

uint64_t find_probed_function() {
  Result<ElfFile> file = ElfFile::open(kSelf);
  for (const UserFunction& function : file->functions().found)
    if (function.name == "flowtap_probed_function") return function.file_offset;
  ADD_FAILURE() << "the test binary has no symbols";
  return 0;
}

AttachPoint function_point(ProbeKind kind) {
  static const uint64_t offset = find_probed_function();
  return {.kind = kind, .target = kSelf, .file_offset = offset};
}

void call_function(int n) {
  for (int i = 0; i < n; i++) flowtap_probed_function(i);
}

TEST_F(AttachTest, uprobes_count_exactly) {
  for (ProbeKind kind : {ProbeKind::Uprobe, ProbeKind::Uretprobe, ProbeKind::Usdt}) {
    Result<Attachment> attached =
        attach_one(counter(ProgramType::Kprobe, false), function_point(kind));
    ASSERT_ATTACHED(attached);
    call_function(37);
    EXPECT_EQ(count(), 37u);
    release(*attached);
    call_function(3);
    EXPECT_EQ(count(), 37u);
  }
}

TEST_F(AttachTest, a_uprobe_is_narrowed_to_a_process) {
  Result<Attachment> attached = attach_one(counter(ProgramType::Kprobe, false),
                                           function_point(ProbeKind::Uprobe), {.pid = ::getpid()});
  ASSERT_ATTACHED(attached);
  std::thread([] { call_function(4); }).join();
  EXPECT_EQ(count(), 4u);
  attached = attach_one(counter(ProgramType::Kprobe, false), function_point(ProbeKind::Uprobe),
                        {.pid = ::getppid()});
  ASSERT_ATTACHED(attached);
  call_function(4);
  EXPECT_EQ(count(), 0u);
}

TEST_F(AttachTest, a_usdt_semaphore_is_counted_up_while_attached) {
  AttachPoint point = function_point(ProbeKind::Usdt);
  Result<ElfFile> file = ElfFile::open(kSelf);
  std::optional<ElfSymbol> semaphore = file->find_object("flowtap_semaphore");
  ASSERT_TRUE(semaphore);
  point.semaphore_offset = *file->offset_of(semaphore->address);
  Result<Attachment> attached = attach_one(counter(ProgramType::Kprobe, false), point);
  ASSERT_ATTACHED(attached);
  EXPECT_EQ(flowtap_semaphore, 1);
  release(*attached);
  EXPECT_EQ(flowtap_semaphore, 0);
}

TEST_F(AttachTest, many_uprobes_are_one_link_where_the_kernel_can) {
  AttachPoint point = function_point(ProbeKind::Uprobe);
  Result<Attachment> attached = attach_one(counter(ProgramType::Kprobe, false), point);
  ASSERT_ATTACHED(attached);
  release(*attached);
  AttachOptions options{.uprobe_multi = loaded_.uprobe_multi};
  AttachPoint elsewhere = point;
  elsewhere.target = "/bin/sh";
  EXPECT_FALSE(can_attach_together(point, elsewhere, options));
  EXPECT_FALSE(can_attach_together(point, point, {.uprobe_multi = false}));
  if (!loaded_.uprobe_multi) GTEST_SKIP() << "no uprobe_multi before Linux 6.6";
  ASSERT_TRUE(can_attach_together(point, point, options));
  std::vector<const AttachPoint*> points(100, &point);
  attached = attach_together(image_.programs[0], points, loaded_.programs[0].get(), options);
  ASSERT_ATTACHED(attached);
  EXPECT_EQ(attached->links.size(), 1u);
  call_function(2);
  EXPECT_EQ(count(), 200u);
}

TEST_F(AttachTest, uprobes_by_perf_events_for_older_kernels) {
  Assembler code = counter(ProgramType::Kprobe, false);
  image_.programs = {code.program()};  // without a probe it is not loaded for uprobe_multi
  Result<LoadedImage> loaded = load(image_, {});
  ASSERT_TRUE(loaded);
  loaded_ = std::move(*loaded);
  ASSERT_FALSE(loaded_.uprobe_multi);
  for (ProbeKind kind : {ProbeKind::Uprobe, ProbeKind::Uretprobe}) {
    uint64_t before = count();
    Result<Attachment> attached =
        attach(image_.programs[0], function_point(kind), loaded_.programs[0].get(), {});
    ASSERT_ATTACHED(attached);
    call_function(6);
    EXPECT_EQ(count() - before, 6u);
    std::vector<Attachment> all;
    all.push_back(std::move(*attached));
    std::vector<Fd> rest = detach(std::move(all));
    call_function(6);
    EXPECT_EQ(count() - before, 6u);
    close_in_background(std::move(rest));
  }
}

TEST_F(AttachTest, many_links_are_closed_together) {
  image_.programs = {counter(ProgramType::RawTracepoint).program()};
  Result<LoadedImage> loaded = load(image_, {});
  ASSERT_TRUE(loaded);
  loaded_ = std::move(*loaded);
  AttachPoint point{.kind = ProbeKind::RawTracepoint, .function = "sys_enter"};
  std::vector<Attachment> all;
  // The kernel takes a program once per tracepoint, but this one is loaded often.
  for (int i = 0; i < 70; i++) {
    Result<LoadedImage> again = load(image_, {});
    ASSERT_TRUE(again);
    Result<Attachment> attached = attach(image_.programs[0], point, again->programs[0].get(), {});
    ASSERT_ATTACHED(attached);
    all.push_back(std::move(*attached));
  }
  EXPECT_TRUE(detach(std::move(all)).empty());
}

TEST_F(AttachTest, a_file_that_is_not_there_says_so) {
  AttachPoint point{.kind = ProbeKind::Uprobe, .target = "/no/such/file", .file_offset = 64};
  Result<Attachment> attached = attach_one(counter(ProgramType::Kprobe, false), point);
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().message(), "cannot attach to 'probe': No such file or directory");
}

// --- clocks and counters ------------------------------------------------------------------------

TEST_F(AttachTest, a_profile_samples_by_period_and_by_frequency) {
  AttachPoint by_period{.kind = ProbeKind::Profile, .period_ns = 1'000'000};
  Result<Attachment> attached = attach_one(counter(ProgramType::PerfEvent), by_period);
  ASSERT_ATTACHED(attached);
  spin(std::chrono::milliseconds(100));
  EXPECT_GE(count(), 5u);

  AttachPoint by_frequency{.kind = ProbeKind::Profile, .frequency = 999};
  attached = attach_one(counter(ProgramType::PerfEvent), by_frequency);
  ASSERT_ATTACHED(attached);
  spin(std::chrono::milliseconds(100));
  EXPECT_GE(count(), 5u);
}

TEST_F(AttachTest, a_profile_of_a_process_sees_all_its_threads) {
  std::atomic<bool> is_over = false;
  std::thread early([&] {
    while (!is_over) {
    }
  });
  AttachPoint point{.kind = ProbeKind::Profile, .period_ns = 1'000'000};
  Assembler code("threads", ProgramType::PerfEvent);
  // Not the main thread: pid and thread id differ.
  code.call(BPF_FUNC_get_current_pid_tgid).mov_reg(1, 0).shift_right(1, 32);
  code.skip_if_reg32_equal(0, 1, 4).count(0).done();
  Result<Attachment> attached = attach_one(code, point, {.pid = ::getpid()});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  uint64_t early_count = attached ? count() : 0;
  is_over = true;
  early.join();
  ASSERT_ATTACHED(attached);
  EXPECT_GE(early_count, 5u);
  early_count = count();
  std::thread([] { spin(std::chrono::milliseconds(200)); }).join();
  EXPECT_GE(count(), early_count + 5);
}

TEST_F(AttachTest, an_interval_fires_on_one_cpu) {
  AttachPoint point{.kind = ProbeKind::Interval, .period_ns = 10'000'000};
  Result<Attachment> attached = attach_one(counter(ProgramType::PerfEvent, false), point);
  ASSERT_ATTACHED(attached);
  EXPECT_EQ(attached->links.size(), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_GE(count(), 5u);
  EXPECT_LE(count(), 40u);
}

TEST_F(AttachTest, page_faults_of_a_process_are_counted) {
  AttachPoint point{
      .kind = ProbeKind::Software, .event_count = 1, .perf_config = PERF_COUNT_SW_PAGE_FAULTS};
  Result<Attachment> attached =
      attach_one(counter(ProgramType::PerfEvent), point, {.pid = ::getpid()});
  ASSERT_ATTACHED(attached);
  const size_t kPage = page_size();
  char* memory = static_cast<char*>(
      ::mmap(nullptr, 20 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, 20 * kPage, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < 20; i++) memory[i * kPage] = 1;
  ::munmap(memory, 20 * kPage);
  EXPECT_GE(count(), 20u);
}

TEST_F(AttachTest, hardware_counters_work_or_are_missing) {
  AttachPoint point{
      .kind = ProbeKind::Hardware, .event_count = 100000, .perf_config = PERF_COUNT_HW_CPU_CYCLES};
  Result<Attachment> attached = attach_one(counter(ProgramType::PerfEvent), point);
  if (!attached) {
    EXPECT_NE(attached.error().hint, "") << attached.error().message();
    return;
  }
  spin(std::chrono::milliseconds(50));
  EXPECT_GE(count(), 1u);
}

TEST_F(AttachTest, a_watchpoint_sees_each_write) {
  AttachPoint point{.kind = ProbeKind::Watchpoint,
                    .watched = reinterpret_cast<uint64_t>(&watched),
                    .length = 8,
                    .mode = "w"};
  Result<Attachment> attached =
      attach_one(counter(ProgramType::PerfEvent), point, {.pid = ::getpid()});
  if (!attached) GTEST_SKIP() << attached.error().message();
  for (int i = 0; i < 9; i++) watched = watched + 1;
  EXPECT_EQ(count(), 9u);
}

// --- the rest -----------------------------------------------------------------------------------

TEST_F(AttachTest, an_iterator_visits_every_task) {
  LiveTarget target;
  Result<FunctionSignature> signature = target.iterator("task");
  if (!signature) GTEST_SKIP() << signature.error().message();
  Assembler code = counter(ProgramType::Iter, false);
  code.program().attach_btf_id = signature->btf_id;
  Result<Attachment> attached = attach_one(code, {.kind = ProbeKind::Iter});
  ASSERT_ATTACHED(attached);
  EXPECT_EQ(count(), 0u);
  Status run = run_iterator(attached->links.front().get());
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_GE(count(), 2u);  // a task, and the call that says it was the last
}

TEST_F(AttachTest, kprobes_work_or_are_missing) {
  AttachPoint point{.kind = ProbeKind::Kprobe, .function = "do_nanosleep"};
  Result<Attachment> attached = attach_one(counter(ProgramType::Kprobe), point);
  if (!attached) {
    EXPECT_NE(attached.error().hint, "") << attached.error().message();
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(count(), 1u);
}

TEST_F(AttachTest, what_flowtap_runs_itself_is_not_attached) {
  Result<Attachment> attached =
      attach_one(counter(ProgramType::RawTracepoint), {.kind = ProbeKind::Begin});
  ASSERT_ATTACHED(attached);
  EXPECT_TRUE(attached->links.empty());
}

}  // namespace
}  // namespace flowtap
