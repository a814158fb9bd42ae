// Debug information that was made to open other files, or to take all our memory.

#include "symbols/dwarf_file.h"

#include <dwarf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/test_directory.h"
#include "symbols/dwarf_types.h"
#include "symbols/elf_for_test.h"

namespace flowtap {
namespace {

using namespace std::string_literals;

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// One unit; `dies` is what follows its header.
std::string unit(uint16_t version, uint8_t kind, const std::string& dies) {
  std::string body = bytes_of(version);
  if (version >= 5) body += bytes_of(kind) + '\x8' + bytes_of(uint32_t{0});
  if (version < 5) body += bytes_of(uint32_t{0}) + '\x8';
  if (kind == DW_UT_skeleton) body += bytes_of(uint64_t{1});
  body += dies;
  return bytes_of(static_cast<uint32_t>(body.size())) + body;
}

// 1: a unit with children; 2: a struct, whose name is in the file of common parts; 3: a struct with
// its name; 4: a block with children.
const std::string kAbbreviations =
    "\1\x11\1\0\0"s + "\2\x13\0\3\xa1\x3e\0\0"s + "\3\x13\0\3\x8\0\0"s + "\4\xb\1\0\0"s + "\0"s;

class DwarfFileTest : public testing::Test {
 protected:
  std::string write(const std::string& info, const std::string& link = "") {
    ElfForTest elf{.sections = {{".debug_info", info}, {".debug_abbrev", kAbbreviations}}};
    if (!link.empty()) elf.sections.emplace_back(".gnu_debugaltlink", link);
    return directory_.write("program", elf.image());
  }
  static std::string error_of(const std::string& path) {
    Result<DwarfFile> file = DwarfFile::open(path);
    return file ? "" : file.error().message();
  }

  TestDirectory directory_;
};

TEST_F(DwarfFileTest, a_struct_is_found) {
  std::string path = write(unit(4, 0, "\1\3here\0\0"s));
  Result<Type> type = DwarfTypes().find(path, "struct here");
  ASSERT_TRUE(type) << type.error().message();
  EXPECT_TRUE(*type);
}

TEST_F(DwarfFileTest, common_parts_are_not_taken_from_a_pipe) {
  std::string pipe = directory_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string path =
      write(unit(4, 0, "\1\2\0\0\0\0\3here\0\0"s), pipe + '\0' + std::string(20, '\1'));
  Result<Type> type = DwarfTypes().find(path, "struct here");
  ASSERT_TRUE(type) << type.error().message();
  EXPECT_TRUE(*type);
}

TEST_F(DwarfFileTest, common_parts_are_taken_from_the_file_of_that_build_id) {
  std::string id = "12345678901234567890";
  for (const std::string& id_of_common : {id, std::string("other build id, you see")}) {
    ElfForTest common{.build_id = id_of_common.substr(0, 20)};
    common.sections = {{".debug_info", unit(4, 0, "\1\0"s)},
                       {".debug_abbrev", kAbbreviations},
                       {".debug_str", "common\0"s}};
    directory_.write("common", common.image());
    std::string path = write(unit(4, 0, "\1\2\0\0\0\0\0"s), "common\0"s + id);
    Result<Type> type = DwarfTypes().find(path, "struct common");
    ASSERT_TRUE(type) << type.error().message();
    EXPECT_EQ(static_cast<bool>(*type), id_of_common == id);
  }
}

TEST_F(DwarfFileTest, split_information_is_refused) {
  std::string path = write(unit(5, DW_UT_skeleton, "\1\0"s));
  EXPECT_EQ(error_of(path), "cannot read the debug information of '" + path +
                                "': it is split (.dwo), which is not supported");
}

TEST_F(DwarfFileTest, scopes_that_nest_without_end_do_not_exhaust_the_stack) {
  std::string path = write(unit(4, 0, "\1" + std::string(300'000, '\4')));
  Result<std::vector<Field>> fields = DwarfTypes().parameters(path, 0x1000);
  ASSERT_FALSE(fields);
  EXPECT_EQ(fields.error().message(),
            "the debug information of '" + path + "' does not know this function");
}

TEST_F(DwarfFileTest, sections_that_unpack_to_gigabytes_are_refused) {
  std::string zeros(64 << 20, '\0'), packed(1 << 20, '\0');
  uLongf size = packed.size();
  ASSERT_EQ(::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                        reinterpret_cast<const Bytef*>(zeros.data()), zeros.size(), 9),
            Z_OK);
  packed.resize(size);
  for (uint64_t said : {uint64_t{zeros.size()}, uint64_t{40} << 30}) {
    Elf64_Chdr header{ELFCOMPRESS_ZLIB, 0, said, 1};
    ElfForTest elf{.sections = {{".debug_info", bytes_of(header) + packed}},
                   .section_flags = SHF_COMPRESSED};
    std::string path = directory_.write("program", elf.image());
    EXPECT_EQ(error_of(path), "the debug information of '" + path +
                                  "' is too large: section .debug_info has " +
                                  std::to_string(said >> 20) + " MB");
    ElfForTest old{
        .sections = {{".zdebug_info", "ZLIB" + bytes_of(__builtin_bswap64(said)) + packed}}};
    path = directory_.write("program", old.image());
    EXPECT_TRUE(
        error_of(path).ends_with("section .zdebug_info has " + std::to_string(said >> 20) + " MB"))
        << error_of(path);
  }
}

TEST_F(DwarfFileTest, an_ordinary_compressed_section_is_unpacked) {
  std::string info = unit(4, 0, "\1\3here\0\0"s), packed(1000, '\0');
  uLongf size = packed.size();
  ASSERT_EQ(::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                       reinterpret_cast<const Bytef*>(info.data()), info.size()),
            Z_OK);
  packed.resize(size);
  ElfForTest elf{
      .sections = {{".zdebug_info", "ZLIB" + bytes_of(__builtin_bswap64(info.size())) + packed},
                   {".debug_abbrev", kAbbreviations}}};
  Result<Type> type = DwarfTypes().find(directory_.write("program", elf.image()), "struct here");
  ASSERT_TRUE(type) << type.error().message();
  EXPECT_TRUE(*type);
}

}  // namespace
}  // namespace flowtap
