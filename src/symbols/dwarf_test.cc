// What this test program's own debug information says.

#include "symbols/dwarf.h"

#include <gtest/gtest.h>

#include "symbols/dwarf_types.h"
#include "symbols/elf_file.h"

struct DwarfTestPoint {
  long x;
};

namespace flowtap {
class Lexer;  // defined in other files only
}

extern "C" {
typedef const char* dwarf_test_text;
__attribute__((noinline)) int dwarf_test_plain(int8_t tiny, const unsigned* count, float share,
                                               dwarf_test_text text, DwarfTestPoint* point,
                                               DwarfTestPoint& same, bool is_on) {
  return tiny + static_cast<int>(*count) + static_cast<int>(share) + *text + (point == &same) +
         is_on;
}
__attribute__((noinline)) int dwarf_test_elsewhere(const flowtap::Lexer* lexer) {
  return lexer == nullptr;
}
__attribute__((noinline)) long dwarf_test_by_value(int before, DwarfTestPoint point, int after) {
  return before + point.x + after;
}
}

namespace flowtap {
namespace {

constexpr const char* kSelf = "/proc/self/exe";
constexpr int kLineOfReturn = __LINE__ + 1;
__attribute__((noinline)) int line_function(int n) { return n * 7; }

std::string parameters(std::string_view function) {
  Result<ElfFile> self = ElfFile::open(kSelf);
  uint64_t address = 0;
  (void)self->visit_symbols([&](const ElfSymbol& symbol) {
    if (symbol.name == function) address = symbol.address;
  });
  Result<std::vector<Field>> fields = DwarfTypes().parameters(kSelf, address);
  if (!fields) return fields.error().message();
  std::string text;
  for (const Field& field : *fields)
    text += type_name(field.type) + " " + field.name + " @" + std::to_string(field.offset) + "\n";
  return text;
}

TEST(Dwarf, parameters_have_names_types_and_places) {
  unsigned count = 1;
  DwarfTestPoint point{2};
  ASSERT_EQ(dwarf_test_plain(1, &count, 1, "", &point, point, true), 5);
  EXPECT_EQ(parameters("dwarf_test_plain"),
            "int8 tiny @0\n"
            "uint32 * count @8\n"
            "int8 * text @16\n"
            "struct DwarfTestPoint * point @24\n"
            "struct DwarfTestPoint * same @32\n"
            "bool is_on @40\n");
}

TEST(Dwarf, nothing_is_said_of_parameters_behind_a_struct) {
  ASSERT_EQ(dwarf_test_by_value(1, {2}, 3), 6);
  EXPECT_EQ(parameters("dwarf_test_by_value"), "int32 before @0\n");
}

std::string members(DwarfTypes& types, const Type& type) {
  Type whole = types.complete(type);
  std::string text = type_name(type) + " " + std::to_string(type->size) + ":";
  for (const Field& field : whole->fields)
    text += " " + field.name + "@" + std::to_string(field.offset);
  return text;
}

TEST(Dwarf, structs_have_members) {
  DwarfTypes types;
  Result<Type> point = types.find(kSelf, "struct DwarfTestPoint");
  ASSERT_TRUE(point && *point);
  EXPECT_EQ(members(types, *point), "struct DwarfTestPoint 8: x@0");
  Result<Type> none = types.find(kSelf, "struct no_such_struct");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(types.find("/proc/version", "struct x"));
}

TEST(Dwarf, structs_are_defined_in_other_files) {
  ASSERT_EQ(dwarf_test_elsewhere(nullptr), 1);
  Result<ElfFile> self = ElfFile::open(kSelf);
  uint64_t address = 0;
  (void)self->visit_symbols([&](const ElfSymbol& symbol) {
    if (symbol.name == "dwarf_test_elsewhere") address = symbol.address;
  });
  DwarfTypes types;
  Result<std::vector<Field>> fields = types.parameters(kSelf, address);
  ASSERT_TRUE(fields && fields->size() == 1);
  Type lexer = (*fields)[0].type->element;
  EXPECT_TRUE(members(types, lexer).starts_with("struct Lexer ")) << type_name(lexer);
  EXPECT_FALSE(types.complete(lexer)->fields.empty());
}

TEST(Dwarf, functions_that_are_not_there) {
  EXPECT_EQ(parameters("no such function"),
            "the debug information of '/proc/self/exe' does not know this function");
}

TEST(Dwarf, lines_become_addresses) {
  ASSERT_EQ(line_function(1), 7);
  Result<std::vector<uint64_t>> found = find_source_line(kSelf, {"dwarf_test.cc", kLineOfReturn});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_FALSE(found->empty());
  EXPECT_TRUE(find_source_line(kSelf, {"symbols/dwarf_test.cc", kLineOfReturn}));
}

TEST(Dwarf, lines_that_are_not_there) {
  Result<std::vector<uint64_t>> none = find_source_line(kSelf, {"dwarf_test.cc", 2});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "line 2 of 'dwarf_test.cc' has no code");
  EXPECT_TRUE(none.error().hint.starts_with("the next line that has is "));
  none = find_source_line(kSelf, {"warf_test.cc", 2});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "'/proc/self/exe' was not compiled from a file 'warf_test.cc'");
}

}  // namespace
}  // namespace flowtap
