// ELF files that were made to take all our time or memory.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "symbols/elf_file.h"
#include "symbols/elf_for_test.h"
#include "symbols/symbol_table.h"
#include "symbols/usdt_notes.h"

namespace flowtap {
namespace {

Result<ElfFile> read(const std::string& image) {
  return ElfFile::from_memory({image.begin(), image.end()}, "image");
}

TEST(ElfLimits, many_symbols_that_share_a_long_name) {
  ElfForTest elf;
  elf.add("honest", ElfForTest::kCode);
  uint32_t shared = static_cast<uint32_t>(elf.names.size());
  elf.names += std::string(1 << 20, 'x') + '\0';
  for (uint64_t i = 1; i < 20'000; i++)
    elf.functions.push_back({shared, ElfForTest::kCode + 16 * i});
  Result<ElfFile> file = read(elf.image());
  ASSERT_TRUE(file) << file.error().message();
  ElfFile::Functions functions = file->functions();
  ASSERT_EQ(functions.found.size(), 1u);
  EXPECT_EQ(functions.found[0].name, "honest");
  ASSERT_FALSE(functions.status);
  EXPECT_EQ(functions.status.error().message(),
            "symbols of 'image' are left out: their names have more than 128 MB");
  SymbolTable table = SymbolTable::from_elf(*file);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_LT(table.bytes(), 1000u);
}

TEST(ElfLimits, many_symbols_whose_names_end_alike) {
  ElfForTest elf;
  elf.names += std::string(60'000, 'x') + '\0';
  for (uint32_t i = 0; i < 20'000; i++)
    elf.functions.push_back({i + 1, ElfForTest::kCode + 16 * i});
  Result<ElfFile> file = read(elf.image());
  Status status = Done{};
  SymbolTable table = SymbolTable::from_elf(*file, &status);
  EXPECT_FALSE(status);
  EXPECT_LE(table.bytes(), kMostElfNameBytes + (64 << 20));
  EXPECT_EQ(table.find(ElfForTest::kCode)->name.size(), 60'000u);
  EXPECT_FALSE(table.find(ElfForTest::kCode + 16 * 19'999));
}

TEST(ElfLimits, a_long_name_alone_is_left_out) {
  ElfForTest elf;
  elf.add(std::string(kLongestElfName, 'x'), ElfForTest::kCode);
  elf.add(std::string(kLongestElfName - 1, 'y'), ElfForTest::kCode + 16);
  elf.add("z", ElfForTest::kCode + 32);
  ElfFile::Functions functions = read(elf.image())->functions();
  EXPECT_EQ(functions.found.size(), 2u);
  ASSERT_FALSE(functions.status);
  EXPECT_EQ(functions.status.error().message(),
            "symbols of 'image' are left out: 1 name is longer than 64 KB");
}

// In a file that takes no room on disk.
class SparseElf : public testing::Test {
 protected:
  template <typename T>
  void put(uint64_t offset, const T& value) {
    Fd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), &value, sizeof value, static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof value));
  }
  Elf64_Ehdr header() const {
    Elf64_Ehdr header;
    std::memcpy(&header, image_.data(), sizeof header);
    return header;
  }
  void grow() { ASSERT_EQ(::truncate(path_.c_str(), off_t{20} << 30), 0); }

  TestDirectory directory_;
  std::string image_ = [] {
    ElfForTest elf;
    elf.add("work", ElfForTest::kCode);
    return elf.image();
  }();
  std::string path_ = directory_.write("program", image_);
};

TEST_F(SparseElf, a_hundred_million_sections) {
  Elf64_Ehdr changed = header();
  changed.e_shnum = 0;
  put(0, changed);
  Elf64_Shdr zero{};
  zero.sh_size = 100'000'000;
  put(changed.e_shoff, zero);
  grow();
  EXPECT_EQ(ElfFile::open(path_).error().message(), "'" + path_ + "' has more than 10000 sections");
}

TEST_F(SparseElf, tables_of_gigabytes) {
  for (uint32_t section : {1u, 2u}) {  // names, symbols
    directory_.write("program", image_);
    uint64_t at = header().e_shoff + section * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
    put(at, uint64_t{15} << 30);
    grow();
    Result<ElfFile> file = ElfFile::open(path_);
    ASSERT_TRUE(file) << file.error().message();
    Status status = file->visit_symbols([](const ElfSymbol&) {});
    ASSERT_FALSE(status);
    EXPECT_TRUE(status.error().message().starts_with("symbols of '" + path_ + "' are left out"))
        << status.error().message();
  }
}

TEST(ElfLimits, sections_that_are_compressed_are_not_read) {
  ElfForTest elf{.sections = {{".eh_frame", std::string(100, '\1')}},
                 .section_flags = SHF_COMPRESSED};
  Result<ElfFile> file = read(elf.image());
  EXPECT_EQ(file->section_bytes(".eh_frame").error().message(),
            "section .eh_frame of 'image' is compressed");
}

TEST(ElfLimits, headers_that_overlap_or_lie_outside) {
  std::string image = ElfForTest{}.image();
  for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++)
    for (char byte : {'\0', '\1', '\x40', '\x7f', '\xff'}) {
      std::string changed = image;
      changed[at] = byte;
      if (Result<ElfFile> file = read(changed)) (void)file->functions();
    }
}

}  // namespace
}  // namespace flowtap
