// Perf maps as text, and the functions of the C library under their best names.

#include "symbols/symbol_table.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace flowtap {
namespace {

std::string show(std::optional<FoundSymbol> found) {
  return found ? std::string(found->name) + "+" + std::to_string(found->offset) : "-";
}

TEST(SymbolTable, finds_the_function_around_an_address) {
  SymbolTable table = *SymbolTable::from_perf_map(
      "3000 100 outer\n"
      "3010 10 inner\n"
      "1000 20 old name\n"
      "0x1000 20 LazyCompile:~add /app/x.js:1\n"
      "2000 0 endless\n"
      "bad line\n"
      "4000\n"
      "5000 10\n"
      "6000 10 last");
  struct {
    uint64_t address;
    const char* expected;
  } const cases[] = {
      {0xfff, "-"},
      {0x1000, "LazyCompile:~add /app/x.js:1+0"},  // the later line holds
      {0x101f, "LazyCompile:~add /app/x.js:1+31"},
      {0x1020, "-"},
      {0x2000, "endless+0"},
      {0x2fff, "endless+4095"},
      {0x3015, "inner+5"},
      {0x3025, "outer+37"},
      {0x3100, "-"},
      {0x4000, "-"},
      {0x6001, "last+1"},
  };
  for (const auto& c : cases) EXPECT_EQ(show(table.find(c.address)), c.expected) << c.address;
  EXPECT_EQ(table.size(), 5u);
  EXPECT_EQ(show(SymbolTable().find(1)), "-");
}

TEST(SymbolTable, of_many_names_keeps_the_plain_one) {
  Dl_info info;
  ASSERT_TRUE(::dladdr(reinterpret_cast<void*>(&::getppid), &info));
  Result<ElfFile> libc = ElfFile::open(info.dli_fname);
  ASSERT_TRUE(libc);
  SymbolTable table = SymbolTable::from_elf(*libc);
  for (const char* name : {"getppid", "write", "nanosleep", "fork"}) {
    void* address = ::dlsym(RTLD_NEXT, name);
    Dl_info owner;
    ASSERT_TRUE(address && ::dladdr(address, &owner));
    if (owner.dli_fbase != info.dli_fbase) continue;  // a sanitizer's own
    uint64_t in_file =
        reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(info.dli_fbase);
    EXPECT_EQ(show(table.find(in_file)), std::string(name) + "+0");
  }
}

}  // namespace
}  // namespace flowtap
