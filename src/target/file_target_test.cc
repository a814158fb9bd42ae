// FileTarget: the example description in the repository, and descriptions with mistakes in them.

#include "target/file_target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace flowtap {
namespace {

using Names = std::vector<std::string>;

std::string small_text() {
  return read_file(FLOWTAP_SOURCE_DIR "/tests/target/small.target").value_or("");
}

FileTarget small_target() {
  Result<FileTarget> target = FileTarget::parse(small_text());
  EXPECT_TRUE(target) << target.error().message();
  return std::move(*target);
}

std::string print(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    out += fmt::format("{} {} @{}", type_name(field.type), field.name, field.offset);
    if (field.bit_size) out += fmt::format(":{}/{}", field.bit_offset, field.bit_size);
    out += "; ";
  }
  return out;
}

TEST(FileTarget, structs_have_fields_at_the_offsets_written) {
  FileTarget target = small_target();
  Type task = target.complete(target.find_type("struct task_struct"));
  EXPECT_EQ(task->size, 3264u);
  EXPECT_EQ(type_name(find_field(task, "parent")->type), "struct task_struct *");
  EXPECT_EQ(type_name(find_field(task, "comm")->type), "int8[16]");
  EXPECT_EQ(find_field(task, "comm")->offset, 1752u);
  Type sock = target.complete(
      find_field(target.complete(target.find_type("struct sock")), "__sk_common")->type);
  EXPECT_EQ(find_field(sock, "skc_reuseport")->bit_offset, 4u);
  EXPECT_EQ(find_field(sock, "skc_reuseport")->bit_size, 1u);
  EXPECT_EQ(find_field(sock, "skc_daddr")->offset, find_field(sock, "skc_addrpair")->offset);
  EXPECT_TRUE(target.find_type("union in6_u")->is_union);
  EXPECT_EQ(target.find_type("struct nothing"), nullptr);
}

TEST(FileTarget, enums_and_typedefs) {
  FileTarget target = small_target();
  EXPECT_EQ(target.find_enumerator("TCP_LISTEN")->value, 10);
  EXPECT_EQ(target.find_enumerator("TCP_LISTEN")->type->name, "enum tcp_state");
  EXPECT_FALSE(target.find_enumerator("UDP_LISTEN"));
  EXPECT_EQ(type_name(target.find_type("pid_t")), "int32");
  EXPECT_EQ(target.find_type("nope_t"), nullptr);
}

TEST(FileTarget, tracepoints) {
  FileTarget target = small_target();
  EXPECT_EQ(target.tracepoints("syscalls", "sys_enter_*"),
            (Names{"syscalls:sys_enter_openat", "syscalls:sys_enter_read"}));
  EXPECT_EQ(print(target.tracepoint("syscalls", "sys_enter_read")->fields),
            "int32 __syscall_nr @8; uint32 fd @16; int8 * buf @24; uint64 count @32; ");
  EXPECT_TRUE(target.tracepoint("sched", "sched_process_exec")->fields[0].is_data_loc);
  EXPECT_EQ(target.tracepoint("sched", "nope").error().code, ENOENT);
}

TEST(FileTarget, functions_and_raw_tracepoints) {
  FileTarget target = small_target();
  Result<FunctionSignature> read = target.kernel_function("", "vfs_read");
  ASSERT_TRUE(read);
  EXPECT_EQ(print(read->args),
            "struct file * file @0; int8 * buf @8; uint64 count @16; int64 * pos @24; ");
  EXPECT_EQ(read->args[1].type->space, AddressSpace::User);
  EXPECT_EQ(type_name(read->result), "int64");
  EXPECT_EQ(type_name(target.kernel_function("", "wake_up_new_task")->result), "none");
  EXPECT_EQ(
      target.kernel_functions("", "*_*_*"),
      (Names{"nf_tables:nft_lookup_init", "vmlinux:tcp_v4_connect", "vmlinux:wake_up_new_task"}));
  EXPECT_EQ(target.kernel_functions("nf*", "*"), Names{"nf_tables:nft_lookup_init"});
  EXPECT_EQ(target.raw_tracepoints("sched_*"), (Names{"sched_switch", "sched_wakeup"}));
  EXPECT_EQ(print(target.raw_tracepoint("sched_switch")->args),
            "bool preempt @0; struct task_struct * prev @8; struct task_struct * next @16; "
            "uint32 prev_state @24; ");
}

TEST(FileTarget, iterators) {
  FileTarget target = small_target();
  EXPECT_EQ(target.iterators(), (Names{"task", "tcp"}));
  EXPECT_EQ(target.iterator("tcp")->btf_id, 3002);
  EXPECT_EQ(print(target.iterator("tcp")->args),
            "struct bpf_iter_meta * meta @0; struct sock_common * sk_common @8; uint32 uid @16; ");
}

TEST(FileTarget, binaries_symbols_and_the_rest) {
  FileTarget target = small_target();
  EXPECT_EQ(*target.binaries("/bin/*"), Names{"/bin/bash"});
  EXPECT_EQ(target.user_functions("/bin/bash")->at(1).address, 0xd4aa0u);
  UsdtProbe tick = target.usdt_probes("/usr/lib/libdemo.so")->at(0);
  EXPECT_EQ(tick.provider, "demo");
  ASSERT_EQ(tick.args.size(), 3u);
  EXPECT_EQ(tick.args[0].base, "edi");
  EXPECT_EQ(tick.args[1].constant, -16);
  EXPECT_EQ(tick.args[1].base, "rbp");
  EXPECT_EQ(tick.args[2].constant, 7);
  EXPECT_EQ(target.kernel_symbol("_stext"), 0xffffffff81000000u);
  EXPECT_EQ(target.cgroup_id("/sys/fs/cgroup/system.slice"), 17u);
  EXPECT_EQ(target.cpus(), 4u);
  EXPECT_TRUE(target.has(Feature::Fentry));
}

TEST(FileTarget, types_print_as_they_were_written) {
  FileTarget target = small_target();
  EXPECT_EQ(target.type_names("struct bpf_iter__*"),
            (Names{"struct bpf_iter__task", "struct bpf_iter__tcp"}));
  EXPECT_EQ(target.type_text("struct timespec64"),
            "vmlinux: struct timespec64 {\n\ttime64_t tv_sec;\n\tlong int tv_nsec;\n};");
  EXPECT_EQ(target.type_text("struct nothing"), "");
}

TEST(FileTarget, mistakes_are_named) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"cpus many", "line 1 of the target description: cannot understand 'cpus many'"},
      {"\nhello", "line 2 of the target description: cannot understand 'hello'"},
      {"struct s @ 4 {\n int x;\n};",
       "line 2 of the target description: cannot understand 'int x;'"},
      {"struct s @ 4 {", "line 1 of the target description: cannot understand 'struct s @ 4 {'"},
      {"struct s @ 4 {\n odd_t x @ 0;\n};", "'struct s' has a member of unknown type"},
      {"function 1 int f(odd_t x);", "'f' has an argument of unknown type: 'odd_t x'"},
      {"iterator 1 x", "no iterator 'x' in the kernel's BTF"},
      {"tracepoint a:b\nend", "tracepoint a:b: tracepoint format has no ID line"},
      {"feature flight", "line 1 of the target description: cannot understand 'feature flight'"},
      {"typedef a a;", "line 1 of the target description: cannot understand 'typedef a a;'"},
      {"typedef a b;\ntypedef b a;",
       "line 2 of the target description: cannot understand 'typedef b a;'"},
  };
  for (const auto& [text, message] : cases) {
    Result<FileTarget> target = FileTarget::parse(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().message(), message);
  }
}

TEST(FileTarget, damaged_text_is_harmless) {
  const std::string whole = small_text();
  std::mt19937 random(4);
  for (int round = 0; round < 200; round++) {
    std::string text = whole.substr(0, random() % whole.size());
    for (int i = 0; i < 4 && !text.empty(); i++)
      text[random() % text.size()] = "[]*;:@({} x,=\n"[random() % 14];
    (void)FileTarget::parse(text);
  }
}

TEST(FileTarget, demangled_names_match_with_and_without_parameters) {
  FileTarget target = small_target();
  EXPECT_TRUE(target.demangled_matches("_ZN3foo3barEi", "foo::bar"));
  EXPECT_TRUE(target.demangled_matches("_ZN3foo3barEi", "foo::bar(int)"));
  EXPECT_FALSE(target.demangled_matches("_ZN3foo3barEi", "foo::baz"));
  EXPECT_TRUE(target.demangled_matches("main", "main"));
}

TEST(FileTarget, says_which_processor_and_pages_it_has) {
  Result<FileTarget> target = FileTarget::parse("arch x86_64\npage_size 65536\n");
  ASSERT_TRUE(target) << target.error().message();
  EXPECT_EQ(target->arch().name, "x86_64");
  EXPECT_EQ(target->page_size(), 65536u);
  EXPECT_EQ(&FileTarget::parse("")->arch(), &host_arch());
  EXPECT_FALSE(FileTarget::parse("arch pdp11"));
  EXPECT_FALSE(FileTarget::parse("page_size 0"));
}

}  // namespace
}  // namespace flowtap
