#pragma once
// Small programs for tests: one segment of code, and a symbol table. For tests only.

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace flowtap {

struct ElfForTest {
  struct Function {
    uint32_t name = 0;  // where it stands in `names`
    uint64_t address = 0;
    uint64_t size = 16;
  };

  static constexpr uint64_t kCode = 0x1000, kCodeSize = 0x100000;  // in file and memory

  std::string names = std::string(1, '\0');
  std::vector<Function> functions = {};
  std::string build_id = {};
  // Other sections, with what they have.
  std::vector<std::pair<std::string, std::string>> sections = {};
  uint64_t section_flags = 0;

  void add(const std::string& name, uint64_t address) {
    functions.push_back({static_cast<uint32_t>(names.size()), address});
    names += name + '\0';
  }
  std::string image() const;
};

inline std::string ElfForTest::image() const {
  std::string image(sizeof(Elf64_Ehdr), '\0'), titles(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  auto append = [&](std::string_view bytes) {
    image.resize((image.size() + 7) / 8 * 8);
    image += bytes;
    return image.size() - bytes.size();
  };
  auto add_section = [&](const std::string& title, uint32_t type, std::string_view bytes) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(titles.size());
    header.sh_type = type;
    header.sh_offset = append(bytes);
    header.sh_size = bytes.size();
    header.sh_addralign = 4;
    headers.push_back(header);
    titles += title + '\0';
    return static_cast<uint32_t>(headers.size() - 1);
  };
  auto bytes_of = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  Elf64_Phdr code{};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_offset = code.p_vaddr = kCode;
  code.p_filesz = code.p_memsz = kCodeSize;
  uint64_t segments = append(bytes_of(code));

  std::string symbols = bytes_of(Elf64_Sym{});
  for (const Function& function : functions) {
    Elf64_Sym symbol{};
    symbol.st_name = function.name;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = function.address;
    symbol.st_size = function.size;
    symbols += bytes_of(symbol);
  }
  uint32_t strings = add_section(".strtab", SHT_STRTAB, names);
  uint32_t table = add_section(".symtab", SHT_SYMTAB, symbols);
  headers[table].sh_link = strings;
  headers[table].sh_entsize = sizeof(Elf64_Sym);
  if (!build_id.empty()) {
    Elf64_Nhdr note{4, static_cast<uint32_t>(build_id.size()), NT_GNU_BUILD_ID};
    add_section(".note.gnu.build-id", SHT_NOTE,
                bytes_of(note) + std::string("GNU\0", 4) + build_id);
  }
  for (const auto& [title, bytes] : sections)
    headers[add_section(title, SHT_PROGBITS, bytes)].sh_flags = section_flags;
  uint32_t of_titles = add_section(".shstrtab", SHT_STRTAB, titles + std::string(".shstrtab", 10));

  std::string all_headers;
  for (const Elf64_Shdr& header : headers) all_headers += bytes_of(header);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = segments;
  header.e_phentsize = sizeof code;
  header.e_phnum = 1;
  header.e_shoff = append(all_headers);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(headers.size());
  header.e_shstrndx = static_cast<uint16_t>(of_titles);
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace flowtap
