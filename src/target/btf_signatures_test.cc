// Signatures read from written BTF, and from the running kernel's where it is readable.

#include "target/btf_signatures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "types/btf_for_test.h"

namespace flowtap {
namespace {

std::string print(const std::optional<FunctionSignature>& signature) {
  if (!signature) return "nothing";
  std::string out = fmt::format("#{} (", signature->btf_id);
  for (const Field& arg : signature->args)
    out += fmt::format("{} {} @{}; ", type_name(arg.type), arg.name, arg.offset);
  return out + ") -> " + type_name(signature->result);
}

TEST(BtfSignatures, functions_have_arguments_in_eight_byte_slots) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t pair = w.add_struct(BtfKind::Struct, "pair", 16, {});
  uint32_t proto = w.add_proto(number, {{"a", number}, {"p", pair}, {"", number}, {"", 0}});
  w.add_plain(BtfKind::Func, "work", proto);
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  BtfTypes types(*btf);
  EXPECT_EQ(print(function_signature(types, "work")),
            "#4 (int32 a @0; struct pair p @8; int32 arg2 @24; ) -> int32");
  EXPECT_EQ(function_signature(types, "work")->declarations,
            (std::vector<std::string>{"int a", "struct pair p", "int arg2"}));
  EXPECT_EQ(function_signature(types, "work")->result_text, "int");
  EXPECT_EQ(print(function_signature(types, "play")), "nothing");
  EXPECT_EQ(function_names(*btf, "w*k"), std::vector<std::string>{"work"});
}

TEST(BtfSignatures, raw_tracepoints_drop_data_and_borrow_names) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t data = w.add_plain(BtfKind::Ptr, "", 0);
  uint32_t bare = w.add_proto(0, {{"", data}, {"", number}});
  uint32_t pointer = w.add_plain(BtfKind::Ptr, "", bare);
  w.add_plain(BtfKind::Typedef, "btf_trace_tick", pointer);
  uint32_t named = w.add_proto(number, {{"__data", data}, {"count", number}});
  w.add_plain(BtfKind::Func, "__traceiter_tick", named);
  w.add_plain(BtfKind::Typedef, "btf_trace_tock", pointer);
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  BtfTypes types(*btf);
  EXPECT_EQ(print(raw_tracepoint_signature(types, "tick")), "#5 (int32 count @0; ) -> none");
  EXPECT_EQ(print(raw_tracepoint_signature(types, "tock")), "#8 (int32 arg0 @0; ) -> none");
  EXPECT_EQ(raw_tracepoint_names(*btf, "t*ck"), (std::vector<std::string>{"tick", "tock"}));
}

TEST(BtfSignatures, iterators_give_the_members_of_their_context) {
  BtfWriter w;
  uint32_t meta = w.add_struct(BtfKind::Struct, "bpf_iter_meta", 24, {});
  uint32_t pointer = w.add_plain(BtfKind::Ptr, "", meta);
  uint32_t boxed = w.add_struct(BtfKind::Union, "", 8, {{"meta", pointer, 0}});
  uint32_t uid = w.add_int("unsigned int", 4);
  w.add_struct(BtfKind::Struct, "bpf_iter__thing", 16, {{"", boxed, 0}, {"uid", uid, 64}});
  uint32_t proto = w.add_proto(uid, {});
  w.add_plain(BtfKind::Func, "bpf_iter_thing", proto);
  w.add_plain(BtfKind::Func, "bpf_iter_thing_next", proto);
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  BtfTypes types(*btf);
  EXPECT_EQ(print(iterator_signature(types, "thing")),
            "#7 (struct bpf_iter_meta * meta @0; uint32 uid @8; ) -> int32");
  EXPECT_EQ(iterator_names(*btf), std::vector<std::string>{"thing"});
}

TEST(BtfSignatures, the_running_kernel_has_named_arguments) {
  std::optional<std::string> content = read_file("/sys/kernel/btf/vmlinux");
  if (!content) GTEST_SKIP() << "/sys/kernel/btf/vmlinux is not readable";
  Result<Btf> btf = Btf::parse(std::as_bytes(std::span(*content)));
  ASSERT_TRUE(btf);
  BtfTypes types(*btf);
  std::optional<FunctionSignature> found = raw_tracepoint_signature(types, "sched_switch");
  ASSERT_TRUE(found);
  ASSERT_GE(found->args.size(), 3u);
  EXPECT_EQ(type_name(found->args[1].type), "struct task_struct *");
  EXPECT_EQ(found->args[1].name, "prev");
  EXPECT_EQ(found->args[2].offset, 16u);
}

}  // namespace
}  // namespace flowtap
