// C type text as a table: what tracefs writes, and the type that comes of it.

#include "target/type_text.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

// Stands for BTF: one struct, one enum, one typedef.
Type find_sample(std::string_view name) {
  if (name == "struct sock") return struct_type("struct sock", 760, false, 5);
  if (name == "enum zone_type") return enum_type("enum zone_type", 4, false, {{"ZONE_DMA", 0}});
  if (name == "xfs_ino_t") return int_type(8, false);
  return nullptr;
}

struct Case {
  std::string_view text, name, type;
};

TEST(TypeText, declarations) {
  const Case cases[] = {
      {"int dfd", "dfd", "int32"},
      {"unsigned nr", "nr", "uint32"},
      {"unsigned long long ts", "ts", "uint64"},
      {"long int x", "x", "int64"},
      {"unsigned char c", "c", "uint8"},
      {"char c", "c", "int8"},
      {"bool yes", "yes", "bool"},
      {"const char * filename", "filename", "int8 *"},
      {"const char *const * argv", "argv", "int8 * *"},
      {"void __seg_gs * base", "base", "void *"},
      {"const void*p", "p", "void *"},
      {"struct sock * sk", "sk", "struct sock *"},
      {"struct sock sk", "sk", "struct sock"},
      {"struct unheard * p", "p", "struct unheard *"},
      {"struct unheard v", "v", "unknown"},
      {"union bpf_attr * attr", "attr", "union bpf_attr *"},
      {"enum zone_type zone", "zone", "enum zone_type"},
      {"enum unheard e", "e", "unknown"},
      {"xfs_ino_t ino", "ino", "uint64"},
      {"u32 seq", "seq", "uint32"},
      {"umode_t mode", "mode", "uint16"},
      {"unheard_t v", "v", "unknown"},
      {"unheard_t * v", "v", "void *"},
      {"char comm[16]", "comm", "int8[16]"},
      {"u8 mac[2][6]", "mac", "uint8[6][2]"},
      {"char comm[TASK_COMM_LEN]", "comm", "int8[0]"},
      {"unsigned long args[]", "args", "uint64[0]"},
      {"int (*handler)(int, void *)", "handler", "void *"},
  };
  for (const Case& c : cases) {
    std::optional<CDeclaration> found = parse_declaration(c.text, find_sample);
    ASSERT_TRUE(found) << c.text;
    EXPECT_EQ(found->name, c.name) << c.text;
    EXPECT_EQ(type_name(found->type), c.type) << c.text;
    EXPECT_FALSE(found->is_data_loc) << c.text;
  }
}

TEST(TypeText, locations_of_data_give_the_element) {
  std::optional<CDeclaration> name = parse_declaration("__data_loc char[] name", find_sample);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "name");
  EXPECT_EQ(type_name(name->type), "int8");
  EXPECT_TRUE(name->is_data_loc);
  EXPECT_FALSE(name->is_rel_loc);
  std::optional<CDeclaration> words = parse_declaration("__rel_loc u64[] v", find_sample);
  ASSERT_TRUE(words);
  EXPECT_EQ(type_name(words->type), "uint64");
  EXPECT_TRUE(words->is_data_loc && words->is_rel_loc);
}

TEST(TypeText, pointers_carry_their_address_space) {
  EXPECT_EQ(parse_declaration("char * p", find_sample)->type->space, AddressSpace::Kernel);
  EXPECT_EQ(parse_declaration("char __user * p", find_sample)->type->space, AddressSpace::User);
  EXPECT_EQ(parse_declaration("char * p", find_sample, AddressSpace::User)->type->space,
            AddressSpace::User);
}

TEST(TypeText, types_alone) {
  EXPECT_EQ(type_name(parse_type_text("unsigned long", find_sample)), "uint64");
  EXPECT_EQ(type_name(parse_type_text("struct sock *", find_sample)), "struct sock *");
  EXPECT_EQ(type_name(parse_type_text("u8[4]", find_sample)), "uint8[4]");
  EXPECT_EQ(type_name(parse_type_text("void", find_sample)), "none");
}

TEST(TypeText, nonsense_is_refused_or_harmless) {
  for (std::string_view text : {"", "*", "[", "]", "[[]", "16", "( (", "const", "(*", "int (*)(x)"})
    EXPECT_FALSE(parse_declaration(text, find_sample)) << text;
  for (std::string_view text :
       {"a[9999999999]", "a b c d[", "]x[", "int x[0x7fff][0x7fff][0x7fff]"})
    (void)parse_declaration(text, find_sample);
}

}  // namespace
}  // namespace flowtap
