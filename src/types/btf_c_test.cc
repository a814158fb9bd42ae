// BTF as C text: declarations with their stars and brackets in the right places.

#include "types/btf_c.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "types/btf_for_test.h"

namespace flowtap {
namespace {

TEST(BtfC, names_of_types) {
  BtfWriter w;
  uint32_t number = w.add_int("long int", 8, BtfWriter::Signed);
  uint32_t constant = w.add_plain(BtfKind::Const, "", number);
  uint32_t pointer = w.add_plain(BtfKind::Ptr, "", constant);
  uint32_t constant_pointer = w.add_plain(BtfKind::Const, "", pointer);
  uint32_t array = w.add_array(pointer, 3);
  uint32_t to_array = w.add_plain(BtfKind::Ptr, "", array);
  uint32_t proto = w.add_proto(0, {{"", number}, {"p", pointer}, {"", 0}});
  uint32_t function = w.add_plain(BtfKind::Ptr, "", proto);
  uint32_t functions = w.add_array(function, 2);
  uint32_t renamed = w.add_plain(BtfKind::Typedef, "loff_t", number);
  uint32_t empty = w.add_proto(renamed, {});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  EXPECT_EQ(c_type_name(*btf, 0), "void");
  EXPECT_EQ(c_type_name(*btf, pointer), "const long int *");
  EXPECT_EQ(c_type_name(*btf, constant_pointer), "const long int *const");
  EXPECT_EQ(c_type_name(*btf, array), "const long int *[3]");
  EXPECT_EQ(c_type_name(*btf, to_array), "const long int *(*)[3]");
  EXPECT_EQ(c_type_name(*btf, function), "void (*)(long int, const long int *p, ...)");
  EXPECT_EQ(c_type_name(*btf, functions), "void (*[2])(long int, const long int *p, ...)");
  EXPECT_EQ(c_type_name(*btf, renamed), "loff_t");
  EXPECT_EQ(c_type_name(*btf, empty), "loff_t (void)");
}

TEST(BtfC, definitions) {
  BtfWriter w;
  uint32_t number = w.add_int("int", 4, BtfWriter::Signed);
  uint32_t array = w.add_array(number, 4);
  uint32_t inner = w.add_struct(BtfKind::Struct, "", 8, {{"a", number, 0, 3}, {"b", array, 32}});
  uint32_t either = w.add_struct(BtfKind::Union, "", 8, {{"in", inner, 0}, {"c", number, 0}});
  uint32_t kind = w.add_enum("kind", true, {{"LOW", -1}, {"HIGH", 2}});
  uint32_t self = w.add_plain(BtfKind::Ptr, "", 7);
  uint32_t outer = w.add_struct(BtfKind::Struct, "outer", 24,
                                {{"next", self, 0}, {"", either, 64}, {"kind", kind, 128}});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  EXPECT_EQ(c_definition(*btf, outer),
            "struct outer {\n"
            "\tstruct outer *next;\n"
            "\tunion {\n"
            "\t\tstruct {\n"
            "\t\t\tint a: 3;\n"
            "\t\t\tint b[4];\n"
            "\t\t} in;\n"
            "\t\tint c;\n"
            "\t};\n"
            "\tenum kind kind;\n"
            "};");
  EXPECT_EQ(c_definition(*btf, kind), "enum kind {\n\tLOW = -1,\n\tHIGH = 2,\n};");
}

TEST(BtfC, circles_end) {
  BtfWriter w;
  w.add_plain(BtfKind::Ptr, "", 1);
  w.add_struct(BtfKind::Struct, "", 8, {{"", 2, 0}, {"x", 1, 0}});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  for (uint32_t id = 0; id < 4; id++) (void)c_type_name(*btf, id);
}

TEST(BtfC, circles_that_double_end) {
  BtfWriter w;
  w.add_struct(BtfKind::Struct, "", 8, {{"", 1, 0}, {"", 1, 0}, {"p", 2, 0}});
  w.add_proto(2, {{"a", 2}, {"b", 2}});
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  EXPECT_LT(c_definition(*btf, 1).size(), 2'000'000u);
  EXPECT_LT(c_type_name(*btf, 2).size(), 2'000'000u);
}

TEST(BtfC, structs_that_hold_the_next_one_twice_end) {
  BtfWriter w;
  for (uint32_t id = 1; id <= 31; id++)
    w.add_struct(BtfKind::Struct, "", 8, {{"a", id + 1, 0}, {"b", id + 1, 0}});
  w.add_int("int", 4);
  std::vector<std::byte> bytes = w.bytes();
  Result<Btf> btf = Btf::parse(bytes);
  EXPECT_LT(c_type_name(*btf, 1).size(), 2'000'000u);
}

TEST(BtfC, the_running_kernel_prints) {
  std::optional<std::string> content = read_file("/sys/kernel/btf/vmlinux");
  if (!content) GTEST_SKIP() << "/sys/kernel/btf/vmlinux is not readable";
  Result<Btf> btf = Btf::parse(std::as_bytes(std::span(*content)));
  ASSERT_TRUE(btf);
  EXPECT_EQ(c_definition(*btf, btf->find("timespec64", BtfKind::Struct)),
            "struct timespec64 {\n\ttime64_t tv_sec;\n\tlong int tv_nsec;\n};");
}

}  // namespace
}  // namespace flowtap
