// Btf on small written blobs, on damaged ones, and on the running kernel's where it is readable.

#include "types/btf.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "types/btf_for_test.h"

namespace flowtap {
namespace {

// Every accessor on every id: what a reader could do with a blob that parse() accepted.
void read_everything(const Btf& btf) {
  for (uint32_t id = 0; id < btf.end_id() + 2; id++) {
    BtfType type = btf.type(id);
    (void)btf.members(type);
    (void)btf.params(type);
    (void)btf.enumerators(type);
    (void)Btf::int_info(type);
    (void)Btf::array_info(type);
    (void)btf.find(type.name, type.kind);
  }
  (void)btf.find_enumerator("NO_SUCH_ENUMERATOR");
}

BtfWriter sample() {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  w.add_struct(BtfKind::Struct, "pair", 8, {{"a", number, 0, 3}, {"b", number, 32}});
  w.add_struct(BtfKind::Union, "pair", 4, {{"c", number, 0}});
  uint32_t proto = w.add_proto(number, {{"x", number}, {"y", 0}});
  w.add_plain(BtfKind::Func, "pair", proto);
  w.add_enum("colour", true, {{"RED", -1}, {"BLUE", 7}});
  w.add_enum64("wide", {{"HUGE", int64_t{1} << 40}});
  w.add_array(number, 12);
  return w;
}

TEST(Btf, types_are_found_by_name_and_kind) {
  std::vector<std::byte> bytes = sample().bytes();
  Result<Btf> btf = Btf::parse(bytes);
  ASSERT_TRUE(btf) << btf.error().message();
  EXPECT_EQ(btf->end_id(), 9u);
  EXPECT_EQ(btf->find("pair", BtfKind::Struct), 2u);
  EXPECT_EQ(btf->find("pair", BtfKind::Union), 3u);
  EXPECT_EQ(btf->find("pair", BtfKind::Func), 5u);
  EXPECT_EQ(btf->find("pair", BtfKind::Typedef), 0u);
  EXPECT_EQ(btf->find("", BtfKind::Array), 0u);
  EXPECT_EQ(btf->type(99).kind, BtfKind::Void);
}

TEST(Btf, details_of_each_kind_are_read) {
  std::vector<std::byte> bytes = sample().bytes();
  Result<Btf> btf = Btf::parse(bytes);
  ASSERT_TRUE(btf);
  EXPECT_TRUE(Btf::int_info(btf->type(1)).is_signed);

  std::vector<BtfMember> members = btf->members(btf->type(2));
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].bit_size, 3u);
  EXPECT_EQ(members[1].name, "b");
  EXPECT_EQ(members[1].bit_offset, 32u);

  std::vector<BtfParam> params = btf->params(btf->type(4));
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[0].name, "x");
  EXPECT_EQ(btf->enumerators(btf->type(6))[0].value, -1);
  EXPECT_EQ(btf->find_enumerator("HUGE")->value, int64_t{1} << 40);
  EXPECT_EQ(btf->find_enumerator("BLUE")->enum_id, 6u);
  EXPECT_FALSE(btf->find_enumerator("GREEN"));
  EXPECT_EQ(Btf::array_info(btf->type(8)).count, 12u);
}

TEST(Btf, names_are_found_the_same_with_and_without_an_index) {
  BtfWriter w;
  w.add_struct(BtfKind::Struct, "twice", 4, {});
  w.add_struct(BtfKind::Union, "twice", 4, {});
  w.add_struct(BtfKind::Struct, "twice", 8, {});
  w.add_struct(BtfKind::Struct, "twic", 4, {});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes), indexed = Btf::parse(bytes);
  ASSERT_TRUE(btf);
  indexed->index_at_once();
  EXPECT_EQ(indexed->find("twice", BtfKind::Union), 2u);
  EXPECT_EQ(indexed->find("twi", BtfKind::Struct), 0u);
  for (int i = 0; i < 10; i++) {
    EXPECT_EQ(btf->find("twice", BtfKind::Struct), 1u) << i;
    EXPECT_EQ(btf->find("twice", BtfKind::Union), 2u) << i;
    EXPECT_EQ(btf->find("twic", BtfKind::Struct), 4u) << i;
    EXPECT_EQ(btf->find("twi", BtfKind::Struct), 0u) << i;
    EXPECT_EQ(btf->find("wice", BtfKind::Struct), 0u) << i;
  }
}

TEST(Btf, the_first_of_two_equal_names_is_found) {
  BtfWriter w;
  w.add_struct(BtfKind::Struct, "twice", 4, {});
  w.add_struct(BtfKind::Struct, "twice", 8, {});
  std::vector<std::byte> bytes = w.bytes();
  EXPECT_EQ(Btf::parse(bytes)->find("twice", BtfKind::Struct), 1u);
}

TEST(Btf, types_end_before_a_record_that_is_damaged_far_behind) {
  BtfWriter w;
  for (int i = 0; i < 3000; i++) w.add_struct(BtfKind::Struct, "many", 4, {});
  uint32_t last = w.add_struct(BtfKind::Struct, "last", 4, {});
  std::vector<std::byte> bytes = w.bytes();
  EXPECT_EQ(Btf::parse(bytes)->find("last", BtfKind::Struct), last);
  EXPECT_EQ(Btf::parse(bytes)->end_id(), last + 1);
  constexpr size_t kHeader = 24, kRecord = 12, kKindAt = 7;
  bytes[kHeader + 2500 * kRecord + kKindAt] = std::byte{0x1f};
  Result<Btf> btf = Btf::parse(bytes);
  ASSERT_TRUE(btf);
  EXPECT_EQ(btf->find("last", BtfKind::Struct), 0u);
  EXPECT_EQ(btf->type(2500).name, "many");
  EXPECT_EQ(btf->type(2501).kind, BtfKind::Void);
  EXPECT_EQ(btf->end_id(), 2501u);
}

TEST(Btf, split_btf_continues_ids_and_strings_of_its_base) {
  BtfWriter base_writer = sample();
  std::vector<std::byte> base_bytes = base_writer.bytes();
  Result<Btf> base = Btf::parse(base_bytes);
  ASSERT_TRUE(base);

  BtfWriter w(base->end_id(), base_writer.string_size());
  uint32_t id = w.add_struct(BtfKind::Struct, "module_only", 16, {{"inner", 2, 64}});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> module = Btf::parse(bytes, &*base);
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_EQ(module->find("module_only", BtfKind::Struct), id);
  EXPECT_EQ(module->find("pair", BtfKind::Struct), 0u);
  EXPECT_EQ(module->members(module->type(id))[0].name, "inner");
  EXPECT_EQ(module->type(2).name, "pair");
}

TEST(Btf, every_truncation_is_an_error_or_harmless) {
  std::vector<std::byte> whole = sample().bytes();
  for (size_t size = 0; size < whole.size(); size++) {
    std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(Btf::parse(bytes)) << size;
  }
}

TEST(Btf, changed_bytes_never_lead_outside) {
  const std::vector<std::byte> whole = sample().bytes();
  for (size_t at = 0; at < whole.size(); at++) {
    for (unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
      std::vector<std::byte> bytes = whole;
      bytes[at] = std::byte(value);
      Result<Btf> btf = Btf::parse(bytes);
      if (btf) read_everything(*btf);
    }
  }
}

TEST(Btf, random_damage_never_leads_outside) {
  const std::vector<std::byte> whole = sample().bytes();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; round++) {
    std::vector<std::byte> bytes = whole;
    for (int i = 0; i < 4; i++) bytes[random() % bytes.size()] = std::byte(random() & 0xff);
    Result<Btf> btf = Btf::parse(bytes);
    if (btf) read_everything(*btf);
  }
}

TEST(Btf, the_running_kernel_is_understood) {
  std::optional<std::string> content = read_file("/sys/kernel/btf/vmlinux");
  if (!content) GTEST_SKIP() << "/sys/kernel/btf/vmlinux is not readable";
  Result<Btf> btf = Btf::parse(std::as_bytes(std::span(*content)));
  ASSERT_TRUE(btf) << btf.error().message();
  uint32_t task = btf->find("task_struct", BtfKind::Struct);
  ASSERT_NE(task, 0u);
  EXPECT_GT(btf->members(btf->type(task)).size(), 50u);
  EXPECT_EQ(btf->find_enumerator("BPF_MAP_TYPE_HASH")->value, 1);
}

}  // namespace
}  // namespace flowtap
