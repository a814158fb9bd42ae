// This program has probes of its own, written with the macros that other programs use.

// With semaphores, every probe of this file needs a counter named PROVIDER_NAME_semaphore.
#define _SDT_HAS_SEMAPHORES 1
#include "symbols/usdt_notes.h"

#include <gtest/gtest.h>
#include <sys/sdt.h>

#include <map>

extern "C" {
__attribute__((section(".probes"))) unsigned short flowtap_test_numbers_semaphore = 0;
__attribute__((section(".probes"))) unsigned short flowtap_test_twice_semaphore = 0;
}

namespace flowtap {
namespace {

__attribute__((noinline)) void fire(int small, uint64_t large, const char* text) {
  DTRACE_PROBE4(flowtap_test, numbers, small, large, text, 7);
  DTRACE_PROBE(flowtap_test, twice);
  DTRACE_PROBE(flowtap_test, twice);
}

std::multimap<std::string, UsdtProbe> own_probes(const ElfFile& file) {
  std::multimap<std::string, UsdtProbe> by_name;
  Result<std::vector<UsdtProbe>> probes = read_usdt_probes(file);
  EXPECT_TRUE(probes) << probes.error().message();
  for (const UsdtProbe& probe : *probes)
    if (probe.provider == "flowtap_test") by_name.emplace(probe.name, probe);
  return by_name;
}

TEST(UsdtNotes, finds_the_probes_of_this_program) {
  fire(1, 2, "three");
  Result<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  std::multimap<std::string, UsdtProbe> probes = own_probes(*file);
  ASSERT_EQ(probes.count("numbers"), 1u);
  EXPECT_EQ(probes.count("twice"), 2u);
  const UsdtProbe& numbers = probes.find("numbers")->second;
  EXPECT_EQ(file->address_of(numbers.file_offset), numbers.address);
  ASSERT_EQ(numbers.args.size(), 4u);
  EXPECT_EQ(numbers.args[0].bytes, 4u);
  EXPECT_TRUE(numbers.args[0].is_signed);
  EXPECT_EQ(numbers.args[1].bytes, 8u);
  EXPECT_FALSE(numbers.args[1].is_signed);
  EXPECT_EQ(numbers.args[3], (UsdtArgument{.bytes = 4, .is_signed = true, .constant = 7}));
}

TEST(UsdtNotes, the_probe_is_a_nop_inside_its_function) {
  Result<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  std::optional<ElfSection> text = file->section(".text");
  ASSERT_TRUE(text);
  FILE* self = std::fopen("/proc/self/exe", "r");
  ASSERT_TRUE(self);
  for (const auto& [name, probe] : own_probes(*file)) {
    EXPECT_GE(probe.address, text->address);
    EXPECT_LT(probe.address, text->address + text->size);
    std::fseek(self, static_cast<long>(probe.file_offset), SEEK_SET);
    EXPECT_EQ(std::fgetc(self), 0x90) << name;
  }
  std::fclose(self);
}

TEST(UsdtNotes, the_semaphore_is_found_in_the_file) {
  Result<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  std::optional<ElfSymbol> semaphore = file->find_object("flowtap_test_numbers_semaphore");
  ASSERT_TRUE(semaphore);
  std::multimap<std::string, UsdtProbe> probes = own_probes(*file);
  ASSERT_EQ(probes.count("numbers"), 1u);
  EXPECT_EQ(probes.find("numbers")->second.semaphore_offset,
            file->offset_of(semaphore->address).value_or(0));
}

}  // namespace
}  // namespace flowtap
