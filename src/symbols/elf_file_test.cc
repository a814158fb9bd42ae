// A hand-made ELF image in both classes, the test program itself, the C library, and broken files.

#include "symbols/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "base/test_directory.h"
#include "base/text.h"

// Looked up by name in the test program's own symbol table.
extern "C" {
long elf_file_test_object = 42;
__attribute__((noinline)) long elf_file_test_function() { return elf_file_test_object; }
}

namespace flowtap {
namespace {

struct Elf64 {
  using Ehdr = Elf64_Ehdr;
  using Phdr = Elf64_Phdr;
  using Shdr = Elf64_Shdr;
  using Sym = Elf64_Sym;
  static constexpr unsigned char kClass = ELFCLASS64;
  static constexpr unsigned short kMachine = EM_X86_64;
};
struct Elf32 {
  using Ehdr = Elf32_Ehdr;
  using Phdr = Elf32_Phdr;
  using Shdr = Elf32_Shdr;
  using Sym = Elf32_Sym;
  static constexpr unsigned char kClass = ELFCLASS32;
  static constexpr unsigned short kMachine = EM_386;
};

template <typename T>
size_t append(std::vector<char>& image, const T& value) {
  size_t at = (image.size() + 7) / 8 * 8;
  image.resize(at + sizeof(T));
  std::memcpy(image.data() + at, &value, sizeof(T));
  return at;
}

// A library of one segment (file 0..0x1000 at 0x400000) with four symbols and a build id. The
// template is over the two layouts of the same structs, which a function could not take.
template <typename C>
std::vector<char> make_image(bool is_stripped = false) {
  static constexpr char kNames[] =
      "\0.symtab\0.strtab\0.note.gnu.build-id\0work\0work@@V2\0table\0extern\0quick";
  auto name = [](const char* text) {
    std::string_view all(kNames, sizeof kNames);
    return static_cast<unsigned>(all.find(std::string(1, '\0') + text + '\0') + 1);
  };
  std::vector<char> image(sizeof(typename C::Ehdr));

  typename C::Phdr load{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_vaddr = 0x400000;
  load.p_filesz = load.p_memsz = 0x1000;
  size_t segments = append(image, load);

  auto symbol = [&](const char* text, unsigned char info, unsigned short section, unsigned value) {
    typename C::Sym s{};
    s.st_name = name(text);
    s.st_info = info;
    s.st_shndx = section;
    s.st_value = value;
    s.st_size = 16;
    return s;
  };
  const typename C::Sym symbols[] = {
      {},
      symbol("work", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x400100),
      symbol("work@@V2", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x400100),
      symbol("quick", ELF64_ST_INFO(STB_WEAK, STT_GNU_IFUNC), 1, 0x400200),
      symbol("table", ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 1, 0x400300),
      symbol("extern", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF, 0),
  };
  size_t symbols_at = append(image, symbols);
  size_t names_at = append(image, kNames);
  struct {
    uint32_t name_size = 4, size = 4, type = NT_GNU_BUILD_ID;
    char name[4] = "GNU";
    unsigned char id[4] = {0xab, 0xcd, 0xef, 0x01};
  } note;
  size_t note_at = append(image, note);

  typename C::Shdr sections[4] = {};
  auto fill = [&](int i, const char* text, unsigned type, size_t offset, size_t size) {
    sections[i].sh_name = name(text);
    sections[i].sh_type = type;
    sections[i].sh_offset = offset;
    sections[i].sh_size = size;
    sections[i].sh_addralign = 4;
  };
  fill(1, ".symtab", is_stripped ? SHT_PROGBITS : SHT_SYMTAB, symbols_at, sizeof symbols);
  sections[1].sh_link = 2;
  sections[1].sh_entsize = sizeof(typename C::Sym);
  fill(2, ".strtab", SHT_STRTAB, names_at, sizeof kNames);
  fill(3, ".note.gnu.build-id", SHT_NOTE, note_at, sizeof note);
  size_t sections_at = append(image, sections);

  typename C::Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = C::kClass;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = C::kMachine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = segments;
  header.e_phentsize = sizeof load;
  header.e_phnum = 1;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof sections[0];
  header.e_shnum = 4;
  header.e_shstrndx = 2;
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

std::string show(const ElfFile& file) {
  ElfFile::Functions functions = file.functions();
  if (!functions.status) return functions.status.error().message();
  std::string text = file.build_id();
  for (const UserFunction& f : functions.found)
    text += " " + f.name + "@" + std::to_string(f.file_offset) + "+" + std::to_string(f.size);
  return text;
}

// Asks everything that can be asked: the sanitizers judge the answers.
void exercise(std::vector<char> image) {
  Result<ElfFile> file = ElfFile::from_memory(std::move(image), "image");
  if (!file) return;
  (void)file->functions();
  (void)file->find_object("table");
  (void)file->section(".note.stapsdt");
  (void)file->visit_notes(".note.gnu.build-id", [](const ElfNote&) {});
  (void)file->offset_of(0x400100);
}

TEST(ElfFile, reads_both_classes) {
  for (const std::vector<char>& image : {make_image<Elf64>(), make_image<Elf32>()}) {
    bool is_64_bit = image[EI_CLASS] == ELFCLASS64;
    Result<ElfFile> file = ElfFile::from_memory(image, "image");
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->is_64_bit(), is_64_bit);
    EXPECT_EQ(file->machine(), is_64_bit ? EM_X86_64 : EM_386);
    EXPECT_FALSE(file->has_fixed_address());
    EXPECT_TRUE(file->has_symbol_table());
    // "work" stands there twice, once with a version.
    EXPECT_EQ(show(*file), "abcdef01 quick@512+16 work@256+16");
    EXPECT_EQ(file->debug_path("/dbg"), "/dbg/.build-id/ab/cdef01.debug");
    std::optional<ElfSymbol> table = file->find_object("table");
    ASSERT_TRUE(table);
    EXPECT_EQ(table->address, 0x400300u);
    EXPECT_EQ(table->size, 16u);
    EXPECT_FALSE(file->find_object("work"));
    EXPECT_FALSE(file->find_object("extern"));
  }
}

TEST(ElfFile, stripped_symbols_are_found_in_the_debug_file) {
  TestDirectory directory;
  std::vector<char> whole = make_image<Elf64>();
  directory.write(".build-id/ab/cdef01.debug", {whole.data(), whole.size()});
  Result<ElfFile> file = ElfFile::from_memory(make_image<Elf64>(/*is_stripped=*/true), "image");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->has_symbol_table());
  for (const std::string& place : {directory.path(), std::string("/nonexistent")}) {
    int symbols = 0;
    auto count = [&](const ElfSymbol&) { symbols++; };
    EXPECT_TRUE(file->visit_all_symbols(count, place));
    EXPECT_EQ(symbols, place == directory.path() ? 4 : 0);
  }
}

TEST(ElfFile, segments_turn_addresses_into_offsets_and_back) {
  Result<ElfFile> file = ElfFile::from_memory(make_image<Elf64>(), "image");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->offset_of(0x400000), 0u);
  EXPECT_EQ(file->offset_of(0x400fff), 0xfffu);
  EXPECT_FALSE(file->offset_of(0x401000));
  EXPECT_FALSE(file->offset_of(0x3fffff));
  EXPECT_EQ(file->address_of(0x123), 0x400123u);
  EXPECT_FALSE(file->address_of(0x1000));
}

TEST(ElfFile, an_image_cut_short_gives_an_error) {
  for (const std::vector<char>& image : {make_image<Elf64>(), make_image<Elf32>()}) {
    for (size_t length = 0; length < image.size(); length++) {
      std::vector<char> cut(image.begin(), image.begin() + static_cast<long>(length));
      Result<ElfFile> file = ElfFile::from_memory(std::move(cut), "image");
      ASSERT_FALSE(file) << length;
      EXPECT_TRUE(file.error().what.starts_with("'image' is ")) << file.error().message();
    }
  }
}

TEST(ElfFile, no_change_of_bytes_crashes_it) {
  std::mt19937 random(1);
  for (const std::vector<char>& image : {make_image<Elf64>(), make_image<Elf32>()}) {
    for (int round = 0; round < 3000; round++) {
      std::vector<char> changed = image;
      for (int i = 0; i < 3; i++) changed[random() % changed.size()] = static_cast<char>(random());
      exercise(std::move(changed));
    }
  }
}

TEST(ElfFile, refuses_what_is_not_an_elf_file) {
  TestDirectory directory;
  std::string text_file = directory.write("script", "#!/bin/sh\necho hello, this is a script\n");
  std::string empty_file = directory.write("empty", "");
  std::string pipe = directory.path() + "/pipe";
  ::mkfifo(pipe.c_str(), 0600);
  struct {
    std::string path, expected;
  } const cases[] = {
      {text_file, "'" + text_file + "' is not an ELF file"},
      {empty_file, "'" + empty_file + "' is not an ELF file"},
      {pipe, "'" + pipe + "' is not a regular file"},
      {"/", "'/' is not a regular file"},
      {"/nonexistent", "cannot open '/nonexistent': No such file or directory"},
  };
  for (const auto& c : cases) {
    Result<ElfFile> file = ElfFile::open(c.path);
    ASSERT_FALSE(file) << c.path;
    EXPECT_EQ(file.error().message(), c.expected);
  }
}

TEST(ElfFile, a_truncated_program_is_an_error_not_a_crash) {
  std::optional<std::string> whole = read_file("/proc/self/exe");
  ASSERT_TRUE(whole);
  TestDirectory directory;
  for (size_t length :
       {size_t{20}, size_t{64}, size_t{1000}, whole->size() / 2, whole->size() - 9}) {
    std::string path = directory.write("cut", std::string_view(*whole).substr(0, length));
    EXPECT_FALSE(ElfFile::open(path)) << length;
  }
}

TEST(ElfFile, knows_the_symbols_of_this_program) {
  Result<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file) << file.error().message();
  ElfFile::Functions functions = file->functions();
  ASSERT_TRUE(functions.status);
  int times = 0;
  for (const UserFunction& f : functions.found) {
    if (f.name != "elf_file_test_function") continue;
    times++;
    EXPECT_GT(f.size, 0u);
    EXPECT_EQ(file->address_of(f.file_offset), f.address);
  }
  EXPECT_EQ(times, 1);
  std::optional<ElfSymbol> object = file->find_object("elf_file_test_object");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->size, sizeof(long));
  EXPECT_EQ(elf_file_test_function(), 42);
}

TEST(ElfFile, knows_the_symbols_of_the_c_library) {
  Dl_info info;
  ASSERT_TRUE(::dladdr(reinterpret_cast<void*>(&::getppid), &info));
  Result<ElfFile> file = ElfFile::open(info.dli_fname);
  ASSERT_TRUE(file) << file.error().message();
  ElfFile::Functions functions = file->functions();
  ASSERT_TRUE(functions.status);
  EXPECT_GT(functions.found.size(), 1000u);
  EXPECT_FALSE(file->build_id().empty());
  // What the dynamic linker says about itself must agree with what the file says.
  uint64_t address =
      reinterpret_cast<uint64_t>(info.dli_saddr) - reinterpret_cast<uint64_t>(info.dli_fbase);
  auto is_it = [&](const UserFunction& f) { return f.name == "getppid" && f.address == address; };
  EXPECT_EQ(std::count_if(functions.found.begin(), functions.found.end(), is_it), 1);
}

}  // namespace
}  // namespace flowtap
