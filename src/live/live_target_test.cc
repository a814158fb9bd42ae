// LiveTarget on a made-up machine (files in a temporary directory) and on the running one, whose
// tests skip themselves where the kernel does not show what they need.

#include "live/live_target.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "types/btf_for_test.h"

namespace flowtap {
namespace {

using Names = std::vector<std::string>;

// A kernel with one module and two tracepoints.
class MadeUpMachine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "live_target_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    write_btf();
    write("tracing/available_events", "sched:tick\nsyscalls:sys_enter_tick\nnet:tick_tock\n");
    for (const char* event : {"sched/tick", "syscalls/sys_enter_tick", "net/tick_tock"})
      write(std::string("tracing/events/") + event + "/id", "7\n");
    write("tracing/events/sched/tick/format",
          "name: tick\nID: 7\nformat:\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
          "\tfield:struct thing * what;\toffset:8;\tsize:8;\tsigned:0;\n"
          "\tfield:count_t n;\toffset:16;\tsize:8;\tsigned:1;\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view content) {
    std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }
  void write(const std::string& path, const std::vector<std::byte>& bytes) {
    write(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  void write_btf() {
    BtfWriter kernel;
    uint32_t number = kernel.add_int("int", 4, BtfWriter::Signed);
    kernel.add_struct(BtfKind::Struct, "thing", 4, {{"value", number, 0}});
    kernel.add_plain(BtfKind::Typedef, "count_t", number);
    uint32_t proto = kernel.add_proto(number, {{"n", number}});
    kernel.add_plain(BtfKind::Func, "do_thing", proto);
    kernel.add_plain(BtfKind::Fwd, "hidden", 0);
    uint32_t to_hidden = kernel.add_plain(BtfKind::Ptr, "", 6);
    kernel.add_struct(BtfKind::Struct, "opener", 8, {{"hidden", to_hidden, 0}});
    kernel.add_enum("colour", false, {{"RED", 1}});
    write("btf/vmlinux", kernel.bytes());

    BtfWriter module(10, kernel.string_size());
    module.add_struct(BtfKind::Struct, "hidden", 8, {{"secret", number, 32}});
    module.add_plain(BtfKind::Func, "do_hidden", proto);
    module.add_enum("taste", false, {{"SWEET", 3}});
    uint32_t raw = module.add_proto(0, {{"", to_hidden}, {"", number}});
    uint32_t pointer = module.add_plain(BtfKind::Ptr, "", raw);
    module.add_plain(BtfKind::Typedef, "btf_trace_hide", pointer);
    write("btf/zmodule", module.bytes());
    write("btf/broken", "not BTF at all, but long enough to have a header");
  }

  LiveTargetOptions options(bool has_btf = true) const {
    return {.btf_directory = has_btf ? (root_ / "btf").string() : "",
            .tracefs_directory = root_ / "tracing"};
  }

  std::filesystem::path root_;
};

TEST_F(MadeUpMachine, types_come_from_vmlinux_and_then_from_modules) {
  LiveTarget target(options());
  EXPECT_EQ(target.complete(target.find_type("struct thing"))->fields[0].name, "value");
  Type hidden = target.find_type("struct hidden");
  ASSERT_TRUE(hidden);
  EXPECT_EQ(target.complete(hidden)->fields[0].offset, 4u);
  EXPECT_EQ(target.find_type("struct nowhere"), nullptr);
  EXPECT_EQ(target.find_type("struct nowhere"), nullptr);
  EXPECT_EQ(target.find_enumerator("RED")->value, 1);
  EXPECT_EQ(target.find_enumerator("SWEET")->type->name, "enum taste");
  EXPECT_FALSE(target.find_enumerator("SOUR"));
}

TEST_F(MadeUpMachine, a_forward_declaration_is_completed_from_where_the_definition_is) {
  LiveTarget target(options());
  Type opener = target.complete(target.find_type("struct opener"));
  Type hidden = target.complete(opener->fields[0].type->element);
  ASSERT_TRUE(hidden->is_complete);
  EXPECT_EQ(hidden->fields[0].name, "secret");
}

TEST_F(MadeUpMachine, types_are_listed_and_printed_with_their_module) {
  LiveTarget target(options());
  EXPECT_EQ(target.type_names("*hi*"), (Names{"struct hidden", "struct thing"}));
  EXPECT_EQ(target.type_text("struct hidden"), "zmodule: struct hidden {\n\tint secret;\n};");
  EXPECT_EQ(target.type_text("enum colour"), "vmlinux: enum colour {\n\tRED = 1,\n};");
  EXPECT_EQ(target.type_text("union hidden"), "");
  EXPECT_EQ(target.type_text("hidden"), "");
}

TEST_F(MadeUpMachine, signatures_name_the_module_they_are_from) {
  LiveTarget target(options());
  EXPECT_EQ(target.kernel_function("", "do_thing")->module, "");
  EXPECT_EQ(target.kernel_function("", "do_hidden")->module, "zmodule");
  EXPECT_EQ(target.kernel_function("zmodule", "do_hidden")->btf_id, 11);
  EXPECT_FALSE(target.kernel_function("vmlinux", "do_hidden"));
  EXPECT_EQ(target.raw_tracepoint("hide")->module, "zmodule");
  EXPECT_EQ(target.raw_tracepoint("seek").error().message(),
            "no raw tracepoint 'seek' in the kernel's BTF");
  EXPECT_EQ(target.raw_tracepoints("h*"), Names{"hide"});
  EXPECT_EQ(target.raw_tracepoints("hide"), Names{"hide"});
}

TEST_F(MadeUpMachine, functions_are_listed_from_btf_when_tracefs_hides_them) {
  LiveTarget target(options());
  EXPECT_EQ(target.kernel_functions("", "do_*"), (Names{"vmlinux:do_thing", "zmodule:do_hidden"}));
  EXPECT_EQ(target.kernel_functions("zm*", "do_*"), Names{"zmodule:do_hidden"});
  EXPECT_EQ(target.kernel_functions("", "do_hidden"), Names{"zmodule:do_hidden"});
  EXPECT_EQ(target.kernel_functions("", "nothing"), Names{});
}

TEST_F(MadeUpMachine, functions_are_listed_from_tracefs_when_it_shows_them) {
  write("tracing/available_filter_functions", "do_b\ndo_a\ndo_m [mod]\ndo_a\n");
  LiveTarget target(options());
  EXPECT_EQ(target.kernel_functions("", "do_*"),
            (Names{"mod:do_m", "vmlinux:do_a", "vmlinux:do_a", "vmlinux:do_b"}));
  EXPECT_EQ(target.kernel_functions("vmlinux", "do_b"), Names{"vmlinux:do_b"});
  EXPECT_EQ(target.kernel_functions("", "do_m"), Names{"mod:do_m"});
}

TEST_F(MadeUpMachine, a_function_is_listed_for_each_module_that_has_one) {
  write("tracing/available_filter_functions", "do_thing\ndo_thing [mod]\n");
  LiveTarget target(options());
  EXPECT_EQ(target.kernel_functions("*", "do_thing"), (Names{"mod:do_thing", "vmlinux:do_thing"}));
}

TEST_F(MadeUpMachine, tracepoints_are_listed_and_typed) {
  LiveTarget target(options());
  EXPECT_EQ(target.tracepoints("*", "tick*"), (Names{"net:tick_tock", "sched:tick"}));
  EXPECT_EQ(target.tracepoints("sched", "tick"), Names{"sched:tick"});
  EXPECT_EQ(target.tracepoints("sched", "tock"), Names{});
  EXPECT_EQ(target.tracepoints("../events/sched", "tick"), Names{});
  Result<TracepointFormat> tick = target.tracepoint("sched", "tick");
  ASSERT_TRUE(tick) << tick.error().message();
  EXPECT_EQ(type_name(tick->fields[0].type), "struct thing *");
  EXPECT_TRUE(target.complete(tick->fields[0].type->element)->is_complete);
  EXPECT_EQ(type_name(tick->fields[1].type), "int32");
  EXPECT_EQ(target.tracepoint("sched", "tock").error().code, ENOENT);
}

TEST_F(MadeUpMachine, without_btf_what_tracefs_knows_is_left) {
  LiveTarget target(options(false));
  EXPECT_FALSE(target.has(Feature::Btf));
  EXPECT_FALSE(target.has(Feature::Fentry));
  EXPECT_EQ(target.find_type("struct thing"), nullptr);
  EXPECT_EQ(type_name(target.tracepoint("sched", "tick")->fields[1].type), "int64");
  EXPECT_EQ(target.raw_tracepoints("*"), (Names{"tick", "tick_tock"}));
  EXPECT_FALSE(target.raw_tracepoint("tick"));
  EXPECT_TRUE(target.iterators().empty());
}

TEST(RunningMachine, types_and_signatures) {
  LiveTarget target;
  if (!target.has(Feature::Btf)) GTEST_SKIP() << "/sys/kernel/btf/vmlinux is not readable";
  Type task = target.complete(target.find_type("struct task_struct"));
  EXPECT_EQ(type_name(find_field(task, "comm")->type), "int8[16]");
  Result<FunctionSignature> sched_switch = target.raw_tracepoint("sched_switch");
  ASSERT_TRUE(sched_switch);
  EXPECT_EQ(sched_switch->args[1].name, "prev");
  EXPECT_EQ(target.raw_tracepoints("sched_switch"), Names{"sched_switch"});
  Result<FunctionSignature> iterator = target.iterator("task");
  ASSERT_TRUE(iterator);
  EXPECT_EQ(iterator->args[0].name, "meta");
  EXPECT_EQ(type_name(iterator->args[1].type), "struct task_struct *");
  EXPECT_FALSE(target.kernel_functions("", "vfs_*").empty());
}

TEST(RunningMachine, every_tracepoint_format_is_understood) {
  LiveTarget target;
  std::vector<std::string> names = target.tracepoints("*", "*");
  if (names.empty()) GTEST_SKIP() << "tracefs is not readable";
  for (const std::string& name : names) {
    size_t colon = name.find(':');
    Result<TracepointFormat> format =
        target.tracepoint(name.substr(0, colon), name.substr(colon + 1));
    if (!format && format.error().code == EACCES) GTEST_SKIP() << format.error().message();
    EXPECT_TRUE(format) << name << ": " << format.error().message();
  }
}

TEST(RunningMachine, user_binaries_are_read) {
  LiveTarget target;
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  Result<std::vector<std::string>> files = target.binaries(self);
  ASSERT_TRUE(files) << files.error().message();
  Result<std::vector<UserFunction>> functions = target.user_functions(files->front());
  ASSERT_TRUE(functions) << functions.error().message();
  EXPECT_TRUE(std::any_of(functions->begin(), functions->end(),
                          [](const UserFunction& f) { return f.name == "main"; }));
  EXPECT_TRUE(target.usdt_probes(files->front()));
  EXPECT_FALSE(target.binaries("/no/such/file"));
  EXPECT_FALSE(target.user_functions("/no/such/file"));
  EXPECT_TRUE(target.demangled_matches("_ZN3foo3barEi", "foo::bar"));
}

TEST(RunningMachine, small_facts) {
  LiveTarget target;
  EXPECT_GE(target.cpus(), 1u);
  EXPECT_FALSE(target.cgroup_id("/no/such/cgroup"));
  EXPECT_FALSE(target.kernel_symbol("no_such_symbol_anywhere"));
  (void)target.has(Feature::Fentry);
}

// As if it were older than all that it has: then BTF tells.
TEST(LiveTarget, finds_features_that_the_version_does_not_promise) {
  LiveTarget target({.version = KernelVersion{3, 0}});
  if (!target.has(Feature::Btf)) GTEST_SKIP() << "this kernel has no BTF";
  for (const FeatureRow& row : all_features()) {
    bool is_everywhere = row.has_version() && row.since <= KernelVersion{6, 1};
    EXPECT_TRUE(!is_everywhere || target.has(row.feature)) << row.name;
  }
  EXPECT_TRUE(target.has_helper(feature_row(Feature::Loop).helper));
  EXPECT_FALSE(target.has_helper(-1));
}

TEST(LiveTarget, tries_features_where_there_is_no_btf) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  LiveTarget target({.btf_directory = "", .version = KernelVersion{3, 0}});
  EXPECT_TRUE(target.has(Feature::Loop));
  EXPECT_TRUE(target.has(Feature::RingBuffers));
  EXPECT_FALSE(target.has(Feature::RunPrograms));  // nothing shows it
}

}  // namespace
}  // namespace flowtap
