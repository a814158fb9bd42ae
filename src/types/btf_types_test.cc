// BtfTypes: each C construct as the type that the language sees.

#include "types/btf_types.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "types/btf_for_test.h"

namespace flowtap {
namespace {

// "name type @offset" or "name type @offset:bit/size", one line per field.
std::string print_fields(const Type& type) {
  std::string out;
  for (const Field& field : type->fields) {
    out += fmt::format("{} {} @{}", field.name, type_name(field.type), field.offset);
    if (field.bit_size) out += fmt::format(":{}/{}", field.bit_offset, field.bit_size);
    out += '\n';
  }
  return out;
}

struct Blob {
  explicit Blob(const BtfWriter& writer)
      : bytes(writer.bytes()), btf(Btf::parse(bytes)), types(*btf) {}
  std::vector<std::byte> bytes;
  Result<Btf> btf;
  BtfTypes types;
};

TEST(BtfTypes, integers_and_what_stands_for_them) {
  BtfWriter w;
  uint32_t character = w.add_int("char", 1);
  uint32_t byte = w.add_int("unsigned char", 1);
  uint32_t flag = w.add_int("_Bool", 1, BtfWriter::Bool);
  uint32_t number = w.add_int("long", 8, BtfWriter::Signed);
  uint32_t wide = w.add_int("__int128", 16, BtfWriter::Signed);
  uint32_t real = w.add_plain(BtfKind::Float, "float", 4);
  uint32_t qualified = w.add_plain(BtfKind::Const, "", number);
  uint32_t renamed = w.add_plain(BtfKind::Typedef, "off_t", qualified);
  Blob blob(w);
  EXPECT_EQ(type_name(blob.types.type(character)), "int8");
  EXPECT_EQ(type_name(blob.types.type(byte)), "uint8");
  EXPECT_EQ(type_name(blob.types.type(flag)), "bool");
  EXPECT_EQ(type_name(blob.types.type(number)), "int64");
  EXPECT_EQ(type_name(blob.types.type(wide)), "uint64[2]");
  EXPECT_EQ(type_name(blob.types.type(real)), "uint8[4]");
  EXPECT_EQ(type_name(blob.types.type(renamed)), "int64");
  EXPECT_EQ(type_name(blob.types.find("off_t")), "int64");
  EXPECT_EQ(blob.types.find("loff_t"), nullptr);
  EXPECT_EQ(type_name(blob.types.type(0)), "none");
}

TEST(BtfTypes, pointers_carry_the_address_space_of_their_tag) {
  BtfWriter w;
  uint32_t character = w.add_int("char", 1);
  uint32_t constant = w.add_plain(BtfKind::Const, "", character);
  uint32_t user = w.add_plain(BtfKind::TypeTag, "user", constant);
  uint32_t percpu = w.add_plain(BtfKind::TypeTag, "percpu", character);
  uint32_t plain = w.add_plain(BtfKind::Ptr, "", constant);
  uint32_t tagged = w.add_plain(BtfKind::Ptr, "", user);
  uint32_t per_cpu = w.add_plain(BtfKind::Ptr, "", percpu);
  uint32_t proto = w.add_proto(0, {});
  uint32_t function = w.add_plain(BtfKind::Ptr, "", proto);
  Blob blob(w);
  EXPECT_EQ(blob.types.type(plain)->space, AddressSpace::Kernel);
  EXPECT_EQ(blob.types.type(plain, AddressSpace::User)->space, AddressSpace::User);
  EXPECT_EQ(blob.types.type(tagged)->space, AddressSpace::User);
  EXPECT_TRUE(blob.types.type(per_cpu)->is_percpu);
  EXPECT_FALSE(blob.types.type(tagged)->is_percpu);
  EXPECT_EQ(type_name(blob.types.type(tagged)), "int8 *");
  EXPECT_EQ(type_name(blob.types.type(function)), "void *");
}

TEST(BtfTypes, arrays_nest) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t inner = w.add_array(number, 3);
  uint32_t outer = w.add_array(inner, 2);
  uint32_t huge = w.add_array(outer, 0x7fffffff);
  Blob blob(w);
  EXPECT_EQ(type_name(blob.types.type(outer)), "int32[3][2]");
  EXPECT_EQ(blob.types.type(outer)->size, 24u);
  EXPECT_TRUE(is(blob.types.type(huge), Kind::None));
}

TEST(BtfTypes, enums_keep_their_values) {
  BtfWriter w;
  w.add_enum("state", true, {{"OFF", -1}, {"ON", 1}});
  w.add_enum64("flags", {{"TOP", int64_t{1} << 40}});
  Blob blob(w);
  Type state = blob.types.find("enum state");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->name, "enum state");
  EXPECT_TRUE(state->is_signed);
  EXPECT_EQ((*state->enumerators)[0].value, -1);
  EXPECT_EQ(blob.types.find("enum flags")->size, 8u);
}

TEST(BtfTypes, a_struct_is_lazy_until_completed) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t self = w.add_plain(BtfKind::Ptr, "", 3);
  w.add_struct(BtfKind::Struct, "node", 16, {{"next", self, 0}, {"value", number, 64}});
  Blob blob(w);
  Type node = blob.types.find("struct node");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->size, 16u);
  EXPECT_FALSE(node->is_complete);
  Type whole = blob.types.complete(node);
  EXPECT_EQ(print_fields(whole), "next struct node * @0\nvalue int32 @8\n");
  EXPECT_EQ(whole->fields[0].type->space, AddressSpace::Kernel);

  TypeData seen_from_user = *node;
  seen_from_user.space = AddressSpace::User;
  Type user = blob.types.complete(std::make_shared<const TypeData>(seen_from_user));
  EXPECT_EQ(user->fields[0].type->space, AddressSpace::User);
}

TEST(BtfTypes, anonymous_members_are_flattened) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t inner = w.add_struct(BtfKind::Struct, "", 8, {{"a", number, 0}, {"b", number, 32}});
  uint32_t either = w.add_struct(BtfKind::Union, "", 8, {{"", inner, 0}, {"whole", number, 0}});
  uint32_t constant = w.add_plain(BtfKind::Const, "", either);
  w.add_struct(BtfKind::Struct, "outer", 24,
               {{"first", number, 0}, {"", constant, 64}, {"named", inner, 128}});
  Blob blob(w);
  EXPECT_EQ(print_fields(blob.types.complete(blob.types.find("struct outer"))),
            "first int32 @0\na int32 @8\nb int32 @12\nwhole int32 @8\n"
            "named struct (anonymous 2) @16\n");
}

TEST(BtfTypes, bit_fields_are_placed_in_their_integer) {
  BtfWriter w;
  uint32_t u32 = w.add_int("unsigned int", 4);
  w.add_struct(BtfKind::Struct, "bits", 12,
               {{"low", u32, 0, 3}, {"", u32, 3, 5}, {"high", u32, 40, 20}, {"all", u32, 64}});
  w.add_struct(BtfKind::Struct, "packed", 12, {{"straddle", u32, 30, 5}, {"wide", u32, 71, 30}});
  Blob blob(w);
  EXPECT_EQ(print_fields(blob.types.complete(blob.types.find("struct bits"))),
            "low uint32 @0:0/3\nhigh uint32 @4:8/20\nall uint32 @8\n");
  EXPECT_EQ(print_fields(blob.types.complete(blob.types.find("struct packed"))),
            "straddle uint32 @3:6/5\nwide uint64 @8:7/30\n");
}

TEST(BtfTypes, an_anonymous_struct_takes_the_name_of_its_typedef) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t body = w.add_struct(BtfKind::Struct, "", 4, {{"counter", number, 0}});
  w.add_plain(BtfKind::Typedef, "atomic_t", body);
  w.add_plain(BtfKind::Fwd, "hidden", 0);
  Blob blob(w);
  EXPECT_EQ(blob.types.find("atomic_t")->name, "atomic_t");
  EXPECT_EQ(print_fields(blob.types.complete(blob.types.find("atomic_t"))), "counter int32 @0\n");
  EXPECT_EQ(blob.types.type(4)->definition, -1);
}

TEST(BtfTypes, circles_in_damaged_btf_end) {
  BtfWriter w;
  w.add_plain(BtfKind::Typedef, "round", 2);
  w.add_plain(BtfKind::Const, "", 1);
  w.add_plain(BtfKind::Ptr, "", 3);
  w.add_array(4, 2);
  w.add_struct(BtfKind::Struct, "self", 8, {{"", 5, 0}, {"x", 3, 0}});
  w.add_plain(BtfKind::Ptr, "", 1);
  Blob blob(w);
  for (uint32_t id = 0; id < 8; id++) (void)blob.types.type(id);
  (void)blob.types.complete(blob.types.find("struct self"));
}

TEST(BtfTypes, circles_that_double_end) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  w.add_struct(BtfKind::Struct, "twice", 8, {{"", 2, 0}, {"", 2, 0}, {"x", number, 0}});
  Blob blob(w);
  EXPECT_LE(blob.types.complete(blob.types.find("struct twice"))->fields.size(),
            static_cast<size_t>(kMaxBtfParts));
}

TEST(BtfTypes, structs_that_hold_the_next_one_twice_end) {
  BtfWriter w;
  for (uint32_t id = 1; id <= 31; id++)
    w.add_struct(BtfKind::Struct, id == 1 ? "first" : "", 8, {{"", id + 1, 0}, {"", id + 1, 0}});
  w.add_struct(BtfKind::Struct, "", 8, {{"x", 33, 0}});
  w.add_int("int", 4);
  Blob blob(w);
  size_t fields = blob.types.complete(blob.types.find("struct first"))->fields.size();
  EXPECT_GT(fields, 0u);
  EXPECT_LE(fields, static_cast<size_t>(kMaxBtfParts));
}

TEST(BtfTypes, random_damage_is_harmless) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t inner = w.add_struct(BtfKind::Union, "", 8, {{"a", number, 0}, {"b", number, 0, 7}});
  uint32_t array = w.add_array(inner, 2);
  uint32_t pointer = w.add_plain(BtfKind::Ptr, "", array);
  w.add_struct(BtfKind::Struct, "s", 24, {{"", inner, 0}, {"p", pointer, 64}, {"q", array, 128}});
  const std::vector<std::byte> whole = w.bytes();
  std::mt19937 random(2);
  for (int round = 0; round < 3000; round++) {
    std::vector<std::byte> bytes = whole;
    for (int i = 0; i < 3; i++) bytes[random() % bytes.size()] = std::byte(random() & 0xff);
    Result<Btf> btf = Btf::parse(bytes);
    if (!btf) continue;
    BtfTypes types(*btf);
    for (uint32_t id = 0; id < btf->end_id(); id++) (void)types.complete(types.type(id));
  }
}

TEST(BtfTypes, every_type_of_the_running_kernel_converts) {
  std::optional<std::string> content = read_file("/sys/kernel/btf/vmlinux");
  if (!content) GTEST_SKIP() << "/sys/kernel/btf/vmlinux is not readable";
  Result<Btf> btf = Btf::parse(std::as_bytes(std::span(*content)));
  ASSERT_TRUE(btf);
  BtfTypes types(*btf);
  Type task = types.complete(types.find("struct task_struct"));
  EXPECT_EQ(type_name(find_field(task, "comm")->type), "int8[16]");
  EXPECT_EQ(type_name(find_field(task, "pid")->type), "int32");
  EXPECT_EQ(type_name(find_field(task, "mm")->type), "struct mm_struct *");
  for (uint32_t id = 0; id < btf->end_id(); id += 7) (void)types.complete(types.type(id));
}

}  // namespace
}  // namespace flowtap
