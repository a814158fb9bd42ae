// Made-up symbol tables in a temporary file, and the one of the running kernel.

#include "symbols/kallsyms.h"

#include <gtest/gtest.h>

#include "base/test_directory.h"

namespace flowtap {
namespace {

// Reads at once, so that the file may go.
KernelSymbols symbols_in(std::string_view text) {
  TestDirectory directory;
  KernelSymbols symbols(directory.write("kallsyms", text));
  (void)symbols.size();
  return symbols;
}

const char* const kTable =
    "0000000000000000 A fixed_percpu_data\n"
    "0000000000001000 A cpu_debug_store\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T vfs_read\n"
    "ffffffffc0201000 t probe\t[e1000]\n"
    "ffffffffc0101000 t probe\t[nvme]\n"
    "not a line\n"
    "ffffffff81000200 t vfs_read_tail\n"
    "ffffffff82000000 D jiffies";

std::string show(std::optional<KernelSymbol> symbol) {
  if (!symbol) return "-";
  std::string text = std::string(symbol->name) + "+" + std::to_string(symbol->offset);
  if (!symbol->module.empty()) text += " [" + std::string(symbol->module) + "]";
  return text;
}

TEST(KernelSymbols, an_address_belongs_to_the_symbol_before_it) {
  struct {
    uint64_t address;
    const char* expected;
  } const cases[] = {
      {0xffffffff81000000, "_stext+0"},
      {0xffffffff810000ff, "_stext+255"},
      {0xffffffff81000100, "vfs_read+0"},
      {0xffffffff81000142, "vfs_read+66"},
      {0xffffffff81000200, "vfs_read_tail+0"},
      {0xffffffff82000001, "jiffies+1"},
      {0xffffffffa0000000, "-"},  // in the gap before the modules
      {0xffffffffc0101004, "probe+4 [nvme]"},
      {0xffffffffc0201004, "probe+4 [e1000]"},
      {0xffffffff80ffffff, "-"},
      {0x1004, "-"},  // a per-CPU offset is not an address
      {0, "-"},
  };
  KernelSymbols symbols = symbols_in(kTable);
  for (const auto& c : cases) EXPECT_EQ(show(symbols.find(c.address)), c.expected) << c.address;
  EXPECT_EQ(symbols.size(), 9u);
}

TEST(KernelSymbols, a_name_has_an_address) {
  struct {
    const char* name;
    uint64_t expected;  // 0: none
  } const cases[] = {
      {"vfs_read", 0xffffffff81000100},
      {"_text", 0xffffffff81000000},
      {"jiffies", 0xffffffff82000000},
      {"probe [nvme]", 0xffffffffc0101000},
      {"probe [e1000]", 0xffffffffc0201000},
      {"probe", 0xffffffffc0201000},  // the first in the table
      {"probe [e100]", 0},
      {"vfs_rea", 0},
      {"fs_read", 0},
      {"", 0},
  };
  KernelSymbols symbols = symbols_in(kTable);
  for (const auto& c : cases)
    EXPECT_EQ(symbols.address_of(c.name).value_or(0), c.expected) << c.name;
}

TEST(KernelSymbols, many_names_have_their_addresses_in_order) {
  KernelSymbols symbols = symbols_in(kTable);
  std::vector<std::vector<uint64_t>> expected = {
      {0xffffffffc0101000}, {0xffffffff81000100}, {}, {0xffffffffc0201000}, {},
      {0xffffffff81000100}};
  EXPECT_EQ(symbols.addresses_of(
                {"probe [nvme]", "vfs_read", "no_such", "probe [e1000]", "probe", "vfs_read"}),
            expected);
}

TEST(KernelSymbols, functions_that_share_a_name_are_all_found) {
  KernelSymbols symbols = symbols_in(
      "ffffffff81000300 t init_once\nffffffff81000100 t init_once\n"
      "ffffffffc0101000 t init_once\t[ext4]\n");
  std::vector<std::vector<uint64_t>> expected = {{0xffffffff81000100, 0xffffffff81000300},
                                                 {0xffffffffc0101000}};
  EXPECT_EQ(symbols.addresses_of({"init_once", "init_once [ext4]"}), expected);
}

TEST(KernelSymbols, says_when_the_kernel_hides_its_addresses) {
  KernelSymbols hidden = symbols_in("0000000000000000 T _stext\n0000000000000000 T vfs_read\n");
  EXPECT_TRUE(hidden.is_hidden());
  EXPECT_FALSE(hidden.address_of("vfs_read"));
  EXPECT_FALSE(hidden.find(0xffffffff81000000));
  KernelSymbols shown = symbols_in(kTable);
  EXPECT_FALSE(shown.is_hidden());
}

TEST(KernelSymbols, a_missing_file_has_no_symbols) {
  KernelSymbols symbols("/nonexistent/kallsyms");
  EXPECT_FALSE(symbols.find(0xffffffff81000000));
  EXPECT_FALSE(symbols.address_of("vfs_read"));
  EXPECT_EQ(symbols.size(), 0u);
}

TEST(KernelSymbols, the_running_kernel_agrees_with_itself) {
  KernelSymbols symbols;
  if (symbols.size() == 0 || symbols.is_hidden()) GTEST_SKIP() << "kernel addresses are hidden";
  std::optional<uint64_t> address = symbols.address_of("vfs_read");
  ASSERT_TRUE(address);
  EXPECT_EQ(show(symbols.find(*address + 3)), "vfs_read+3");
}

}  // namespace
}  // namespace flowtap
