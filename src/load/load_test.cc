// Images in the running kernel: maps, programs, callbacks, and refusals.

#include "load/load.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include "bpf/assemble_for_test.h"
#include "kernel/bpf_for_test.h"
#include "kernel/run_program.h"
#include "live/live_target.h"
#include "load/maps.h"
#include "read/stats.h"

namespace flowtap {
namespace {

using testing_support::array_map;
using testing_support::Assembler;

uint64_t first_number(const Fd& map) {
  uint32_t key = 0;
  uint64_t value = 0;
  EXPECT_EQ(::bpf_map_lookup_elem(map.get(), &key, &value), 0);
  return value;
}

TEST(KernelName, is_short_and_plain) {
  EXPECT_EQ(kernel_name("@bytes"), "_bytes");
  EXPECT_EQ(kernel_name("tracepoint:syscalls:sys_enter"), "tracepoint_sysc");
}

TEST(Load, maps_are_made_as_described) {
  SKIP_WITHOUT_BPF();
  Image image;
  image.maps = {array_map(16), {.name = "@never", .is_script_map = true}, array_map()};
  image.maps[0].initial = "abc";
  Result<LoadedImage> loaded = load(image, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  uint32_t key = 0;
  char value[16];
  ASSERT_EQ(::bpf_map_lookup_elem(loaded->maps[0].get(), &key, value), 0);
  EXPECT_STREQ(value, "abc");
  EXPECT_FALSE(loaded->maps[1].valid());
  EXPECT_EQ(first_number(loaded->maps[2]), 0u);
}

TEST(Load, a_map_that_cannot_be_is_named_with_a_hint) {
  SKIP_WITHOUT_BPF();
  Image image;
  image.maps = {{.name = "@x", .key_size = 8, .value_size = 1u << 30, .max_entries = 4096}};
  Result<LoadedImage> loaded = load(image, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().what, "cannot create map '@x' of 4096 entries");
  EXPECT_EQ(loaded.error().code, E2BIG);
  EXPECT_EQ(loaded.error().hint,
            "keys of 8 bytes and values of 1073741824 bytes are more than the kernel takes");
}

TEST(Load, a_program_changes_a_map_when_it_is_run) {
  SKIP_WITHOUT_BPF();
  Image image;
  image.maps = {array_map()};
  image.programs = {Assembler().count(0).mov(0, 3).exit().program()};
  Result<LoadedImage> loaded = load(image, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  for (int i = 0; i < 5; i++) EXPECT_EQ(*run_program(loaded->programs[0].get()), 3u);
  EXPECT_EQ(first_number(loaded->maps[0]), 5u);
}

TEST(Load, run_times_are_measured) {
  SKIP_WITHOUT_BPF();
  Image image;
  image.programs = {Assembler().done().program()};
  Result<LoadedImage> loaded = load(image, {});
  ASSERT_TRUE(loaded);
  Result<Fd> enabled = enable_run_stats();
  ASSERT_TRUE(enabled) << enabled.error().message();
  for (int i = 0; i < 7; i++) ASSERT_TRUE(run_program(loaded->programs[0].get()));
  Result<ProgramStats> stats = read_stats(loaded->programs[0].get());
  ASSERT_TRUE(stats);
  // Raw tracepoint programs are counted where they are attached, and by test runs since 6.x.
  EXPECT_TRUE(stats->runs == 7 || stats->runs == 0) << stats->runs;
  EXPECT_EQ(stats->recursion_misses, 0u);
}

// bpf_loop(4, body, 0, 0) with a body that counts.
TEST(Load, loop_bodies_are_callbacks) {
  SKIP_WITHOUT_BPF();
  Image image;
  image.maps = {array_map()};
  Assembler code;
  constexpr uint32_t kBody = 8;
  code.begin_function("main").mov(1, 4).function(2, kBody).mov(3, 0).mov(4, 0);
  code.call(BPF_FUNC_loop).done();
  ASSERT_EQ(code.size(), kBody);
  code.begin_function("body").count(0).done();
  image.programs = {code.program()};
  std::optional<Refusal> refusal;
  Result<LoadedImage> loaded = load(image, {}, &refusal);
  ASSERT_TRUE(loaded) << loaded.error().message() << (refusal ? refusal->log : "");
  ASSERT_TRUE(run_program(loaded->programs[0].get()));
  EXPECT_EQ(first_number(loaded->maps[0]), 4u);
}

TEST(Load, a_refusal_names_the_reason_and_the_place) {
  SKIP_WITHOUT_BPF();
  Image image;
  Assembler code("bad");
  code.at({.kind = ProbeKind::Begin, .name = "begin"});
  code.mov(1, 0).span({0, 5, 9}).load64(0, 1, 0).span({}).exit();
  image.programs = {Assembler().done().program(), code.program()};
  std::optional<Refusal> refusal;
  Result<LoadedImage> loaded = load(image, {}, &refusal);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().what, "cannot load the program of 'begin'");
  EXPECT_EQ(loaded.error().code, EACCES);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->program, 1u);
  EXPECT_NE(refusal->reason.find("R1 invalid mem access"), std::string::npos) << refusal->log;
  EXPECT_EQ(refusal->span, (Span{0, 5, 9}));
  EXPECT_NE(refusal->log.find(refusal->reason), std::string::npos);
}

// Programs of one group: 'r' may be refused, 'g' is good.
Image group_of(const std::string& programs) {
  Image image;
  for (char c : programs) {
    Assembler code(std::string(1, c));
    code.at({.kind = ProbeKind::RawTracepoint,
             .name = c == 'r' ? "refused" : "good",
             .is_one_of_many = true,
             .group = {0, 5, 9}});
    if (c == 'r') code.mov(1, 0).load64(0, 1, 0);
    image.programs.push_back(code.done().program());
  }
  return image;
}

TEST(Load, a_group_goes_on_without_a_program_that_is_refused) {
  SKIP_WITHOUT_BPF();
  for (const char* programs : {"rgg", "grg", "ggr"}) {
    Result<LoadedImage> loaded = load(group_of(programs), {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    ASSERT_EQ(loaded->left_out.size(), 1u);
    size_t refused = loaded->left_out[0].program;
    EXPECT_EQ(programs[refused], 'r');
    EXPECT_FALSE(loaded->programs[refused].valid());
    EXPECT_EQ(loaded->left_out[0].error.what.rfind("cannot load 'refused': R1 invalid", 0), 0u);
  }
}

TEST(Load, a_group_that_is_refused_as_a_whole_is_an_error) {
  SKIP_WITHOUT_BPF();
  std::optional<Refusal> refusal;
  EXPECT_FALSE(load(group_of("rr"), {}, &refusal));
  EXPECT_TRUE(refusal);
  EXPECT_FALSE(load(group_of("rg"), {.leaves_out = false}, &refusal));
  Image image = group_of("rg");
  image.programs[1].attach[0].group = {0, 20, 29};
  EXPECT_FALSE(load(image, {}, &refusal));
}

TEST(Load, a_log_that_is_too_small_keeps_the_first_errno) {
  SKIP_WITHOUT_BPF();
  Image image;
  Assembler code("bad");
  for (int i = 0; i < 200; i++) code.mov(1, i);
  image.programs = {code.load64(0, 1, 0).exit().program()};
  Result<LoadedImage> loaded = load(image, {.log_size = 1});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, EACCES);
}

TEST(Load, fentry_works_or_says_who_forbids_it) {
  SKIP_WITHOUT_BPF();
  LiveTarget target;
  Result<FunctionSignature> function = target.kernel_function("", "bpf_fentry_test1");
  if (!function) GTEST_SKIP() << function.error().message();
  Image image;
  Assembler code("f", ProgramType::Fentry);
  code.program().attach_btf_id = function->btf_id;
  image.programs = {code.done().program()};
  Result<LoadedImage> loaded = load(image, {});
  if (loaded) return;
  EXPECT_EQ(loaded.error().code, EPERM);
  EXPECT_NE(loaded.error().hint, "");
}

}  // namespace
}  // namespace flowtap
