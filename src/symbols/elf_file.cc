// Reads programs and shared libraries. Entry point: ElfFile::open(); elf_symbols.cc reads what
// names them.
//
// An ELF file is described twice. Program headers (segments) say what is mapped where when it
// runs: they turn the virtual address of a symbol into the file offset that uprobes want. Section
// headers say what the linker put in: .symtab holds all symbols and is usually stripped, .dynsym
// only those that other files may use. What was stripped is often in a debug file, found by the
// build id, a hash that the linker stores as a note.
//
// Files come from anywhere, and may be written while we read. So every table is copied first and
// judged then, nothing is mapped, and nothing is as large as the file says without a limit.

#include "symbols/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace flowtap {

namespace {

struct Class32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
};
struct Class64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
};

}  // namespace

// --- opening --------------------------------------------------------------------------------

Error ElfFile::error(const std::string& what) const { return Error{what + " of '" + path_ + "'"}; }

Result<ElfFile> ElfFile::open(const std::string& path) {
  Result<ForeignFile> file = ForeignFile::open(path);
  return file ? read(std::move(*file)) : file.error();
}

Result<ElfFile> ElfFile::read(ForeignFile opened) {
  ElfFile file;
  file.path_ = opened.path();
  file.file_ = std::move(opened);
  Status status = file.read_headers();
  if (!status) return status.error();
  return file;
}

Result<ElfFile> ElfFile::from_memory(std::vector<char> image, std::string name) {
  ElfFile file;
  file.path_ = std::move(name);
  file.image_ = std::move(image);
  Status status = file.read_headers();
  if (!status) return status.error();
  return file;
}

Result<std::vector<char>> ElfFile::bytes(uint64_t offset, uint64_t size) const {
  if (size > kMostSectionBytes)
    return Error{"a part of '" + path_ + "' has more than " +
                 std::to_string(kMostSectionBytes >> 20) + " MB"};
  if (file_) return file_->read(offset, size);
  if (offset > image_.size() || size > image_.size() - offset)
    return Error{"'" + path_ + "' is truncated"};
  const char* begin = image_.data() + offset;
  return std::vector<char>(begin, begin + size);
}

// A copy of the struct at the start of bytes that are known to have it.
template <typename T>
static T copy_of(const std::vector<char>& bytes, size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Status ElfFile::read_headers() {
  Result<std::vector<char>> ident = bytes(0, std::min<uint64_t>(size(), EI_NIDENT));
  if (!ident) return ident.error();
  const std::vector<char>& magic = *ident;
  if (magic.size() < EI_NIDENT || std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0)
    return Error{"'" + path_ + "' is not an ELF file"};
  if (magic[EI_DATA] != ELFDATA2LSB) return Error{"'" + path_ + "' is for a big-endian machine"};
  if (magic[EI_CLASS] == ELFCLASS64) return read_headers_of<Class64>();
  is_64_bit_ = false;
  if (magic[EI_CLASS] == ELFCLASS32) return read_headers_of<Class32>();
  return Error{"'" + path_ + "' is not an ELF file"};
}

// Counts that do not fit into the header are in the section header 0, which is no section.
template <typename Class>
Status ElfFile::read_headers_of() {
  Result<std::vector<char>> first = bytes(0, sizeof(typename Class::Header));
  if (!first) return first.error();
  auto header = copy_of<typename Class::Header>(*first);
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return Error{"'" + path_ + "' is neither a program nor a shared library"};
  machine_ = header.e_machine;
  has_fixed_address_ = header.e_type == ET_EXEC;
  uint64_t segments = header.e_phnum, sections = header.e_shnum;
  uint32_t names = header.e_shstrndx;
  if (header.e_shoff != 0) {
    Result<std::vector<char>> zero = bytes(header.e_shoff, sizeof(typename Class::Section));
    if (!zero) return zero.error();
    auto extra = copy_of<typename Class::Section>(*zero);
    if (sections == 0) sections = extra.sh_size;
    if (segments == PN_XNUM) segments = extra.sh_info;
    if (names == SHN_XINDEX) names = extra.sh_link;
  }
  if (segments > kMostElfHeaders || sections > kMostElfHeaders)
    return Error{"'" + path_ + "' has more than " + std::to_string(kMostElfHeaders) +
                 (sections > kMostElfHeaders ? " sections" : " segments")};
  bool is_usual = (segments == 0 || header.e_phentsize == sizeof(typename Class::Segment)) &&
                  (sections == 0 || header.e_shentsize == sizeof(typename Class::Section));
  if (!is_usual) return Error{"'" + path_ + "' has headers of an unknown size"};
  if (Status status = read_segments<Class>(header.e_phoff, segments); !status) return status;
  if (Status status = read_sections<Class>(header.e_shoff, sections); !status) return status;
  return read_names(names);
}

template <typename Class>
Status ElfFile::read_segments(uint64_t offset, uint64_t count) {
  using Header = typename Class::Segment;
  Result<std::vector<char>> table = bytes(offset, count * sizeof(Header));
  if (!table) return table.error();
  for (uint64_t i = 0; i < count; i++) {
    Header header = copy_of<Header>(*table, i * sizeof(Header));
    if (header.p_type != PT_LOAD) continue;
    if (segments_.size() >= kMostElfSegments)
      return Error{"'" + path_ + "' has more than " + std::to_string(kMostElfSegments) +
                   " segments"};
    segments_.push_back({.address = header.p_vaddr,
                         .file_offset = header.p_offset,
                         .file_size = header.p_filesz,
                         .is_executable = (header.p_flags & PF_X) != 0});
  }
  return Done{};
}

// --- sections -------------------------------------------------------------------------------

template <typename Class>
Status ElfFile::read_sections(uint64_t offset, uint64_t count) {
  using Header = typename Class::Section;
  Result<std::vector<char>> table = bytes(offset, count * sizeof(Header));
  if (!table) return table.error();
  for (uint64_t i = 0; i < count; i++) {
    Header header = copy_of<Header>(*table, i * sizeof(Header));
    sections_.push_back({.name = header.sh_name,
                         .type = header.sh_type,
                         .flags = header.sh_flags,
                         .address = header.sh_addr,
                         .file_offset = header.sh_offset,
                         .size = header.sh_size,
                         .link = header.sh_link});
    if (header.sh_type == SHT_SYMTAB) has_symbol_table_ = true;
  }
  return Done{};
}

static std::string hex_of(Bytes bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

// `names` is the number of the section that has the names of all.
Status ElfFile::read_names(uint32_t names) {
  constexpr size_t kLongestBuildId = 64;
  if (names < sections_.size() && sections_[names].type == SHT_STRTAB) {
    Result<std::vector<char>> text = bytes(sections_[names].file_offset, sections_[names].size);
    if (!text) return text.error();
    section_names_ = std::move(*text);
    names_offset_ = sections_[names].file_offset;
  }
  return visit_notes(".note.gnu.build-id", [&](const ElfNote& note) {
    bool is_id = note.owner == "GNU" && note.type == NT_GNU_BUILD_ID;
    if (is_id && note.content.size() <= kLongestBuildId) build_id_ = hex_of(note.content);
  });
}

std::vector<char> ElfFile::bytes_at(uint64_t file_offset, uint64_t most) const {
  if (file_offset >= size()) return {};
  Result<std::vector<char>> found = bytes(file_offset, std::min(most, size() - file_offset));
  return found ? std::move(*found) : std::vector<char>();
}

// Empty when the file does not say.
std::string_view ElfFile::name_of(const ElfSection& section) const {
  if (section.name >= section_names_.size()) return {};
  std::string_view rest(section_names_.data() + section.name, section_names_.size() - section.name);
  size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

std::optional<ElfSection> ElfFile::section(std::string_view name) const {
  for (const ElfSection& section : sections_)
    if (name_of(section) == name) return section;
  return std::nullopt;
}

void ElfFile::hide_section(std::string_view name) {
  for (const ElfSection& section : sections_)
    if (name_of(section) == name) image_[names_offset_ + section.name] = '\0';
}

Result<std::vector<char>> ElfFile::section_bytes(std::string_view name) const {
  std::optional<ElfSection> found = section(name);
  // A debug file keeps the header of what it does not hold.
  if (!found || found->type == SHT_NOBITS) return std::vector<char>();
  if (found->flags & SHF_COMPRESSED)
    return Error{"section " + std::string(name) + " of '" + path_ + "' is compressed"};
  return bytes(found->file_offset, found->size);
}

// | u32 size of the owner | u32 size of the content | u32 type | owner | content |, both filled up
// to 4 bytes.
static void visit_notes_of(Bytes section, const std::function<void(const ElfNote&)>& visit) {
  auto filled = [](uint64_t size) { return (size + 3) / 4 * 4; };
  while (section.size() >= sizeof(Elf64_Nhdr)) {
    uint64_t owner_size = load<uint32_t>(section), content_size = load<uint32_t>(section, 4);
    ElfNote note{.type = load<uint32_t>(section, 8)};
    section = section.subspan(sizeof(Elf64_Nhdr));
    uint64_t content_at = filled(owner_size), end = content_at + content_size;
    if (end > section.size()) return;
    std::string_view owner(reinterpret_cast<const char*>(section.data()), owner_size);
    note.owner = owner.substr(0, owner.find('\0'));
    note.content = section.subspan(content_at, content_size);
    visit(note);
    section = section.subspan(std::min<uint64_t>(filled(end), section.size()));
  }
}

Status ElfFile::visit_notes(std::string_view wanted,
                            const std::function<void(const ElfNote&)>& visit) const {
  uint64_t size = 0;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE || name_of(section) != wanted) continue;
    size += section.size;
    if (section.size > kMostElfNoteBytes || size > kMostElfNoteBytes)
      return error("there is too much in " + std::string(wanted));
    Result<std::vector<char>> notes = bytes(section.file_offset, section.size);
    if (!notes) return notes.error();
    visit_notes_of(std::as_bytes(std::span(*notes)), visit);
  }
  return Done{};
}

// --- addresses ------------------------------------------------------------------------------

std::optional<uint64_t> ElfFile::offset_of(uint64_t address) const {
  for (const ElfSegment& segment : segments_)
    if (address >= segment.address && address - segment.address < segment.file_size)
      return address - segment.address + segment.file_offset;
  return std::nullopt;
}

std::optional<uint64_t> ElfFile::code_offset(uint64_t address) const {
  for (const ElfSegment& segment : segments_)
    if (segment.is_executable && address >= segment.address &&
        address - segment.address < segment.file_size)
      return address - segment.address + segment.file_offset;
  return std::nullopt;
}

std::optional<uint64_t> ElfFile::address_of(uint64_t file_offset) const {
  for (const ElfSegment& segment : segments_)
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_size)
      return file_offset - segment.file_offset + segment.address;
  return std::nullopt;
}

}  // namespace flowtap
