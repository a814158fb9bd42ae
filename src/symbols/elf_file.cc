// Reads programs and shared libraries with libelf. Way in: ElfFile::open().
//
// An ELF file is described twice. Program headers (segments) say what is mapped where when it
// runs: they turn the virtual address of a symbol into the file offset that uprobes want. Section
// headers say what the linker put in: .symtab holds all symbols and is usually stripped, .dynsym
// only those that other files may use. What was stripped often lies in a debug file, found by the
// build id, a hash that the linker stores as a note.
//
// Files come from anywhere, so nothing in them is trusted: libelf checks the bounds of headers,
// sections and strings, and this file checks what libelf hands over unseen. Sections are read
// when asked for (not mapped), so a file that shrinks meanwhile gives an error and no SIGBUS.

#include "symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

namespace flowtap {

void ElfFile::Close::operator()(Elf* elf) const { elf_end(elf); }

// --- opening --------------------------------------------------------------------------------

Error ElfFile::error(const std::string& what) const {
  const char* reason = elf_errmsg(elf_errno());
  return Error{what + " of '" + path_ + "'" + (reason ? ": " + std::string(reason) : "")};
}

Result<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile file;
  file.path_ = path;
  // Without O_NONBLOCK opening a named pipe would wait for a writer.
  file.fd_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd_.valid()) return errno_error("cannot open '" + path + "'");
  struct stat info;
  if (::fstat(file.fd_.get(), &info) != 0) return errno_error("cannot open '" + path + "'");
  if (!S_ISREG(info.st_mode)) return Error{"'" + path + "' is not a regular file"};
  elf_version(EV_CURRENT);
  file.elf_.reset(elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  Status status = file.read_headers(static_cast<uint64_t>(info.st_size));
  if (!status) return status.error();
  return file;
}

Result<ElfFile> ElfFile::from_memory(std::vector<char> image, std::string name) {
  ElfFile file;
  file.path_ = std::move(name);
  file.image_ = std::move(image);
  elf_version(EV_CURRENT);
  if (file.image_.size() >= EI_NIDENT)
    file.elf_.reset(elf_memory(file.image_.data(), file.image_.size()));
  Status status = file.read_headers(file.image_.size());
  if (!status) return status.error();
  return file;
}

Status ElfFile::read_headers(uint64_t file_size) {
  GElf_Ehdr header;
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || !gelf_getehdr(elf_.get(), &header))
    return Error{"'" + path_ + "' is not an ELF file"};
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Error{"'" + path_ + "' is for a big-endian machine"};
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return Error{"'" + path_ + "' is neither a program nor a shared library"};
  // libelf takes tables beyond the end of the file for empty ones.
  uint64_t sections_size = uint64_t{header.e_shnum} * header.e_shentsize;
  uint64_t segments_size = uint64_t{header.e_phnum} * header.e_phentsize;
  if (header.e_shoff > file_size || sections_size > file_size - header.e_shoff ||
      header.e_phoff > file_size || segments_size > file_size - header.e_phoff)
    return Error{"'" + path_ + "' is truncated"};
  is_64_bit_ = gelf_getclass(elf_.get()) == ELFCLASS64;
  machine_ = header.e_machine;
  has_fixed_address_ = header.e_type == ET_EXEC;
  if (Status status = read_segments(); !status) return status;
  return read_sections();
}

Status ElfFile::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) return error("cannot read the program headers");
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf_.get(), static_cast<int>(i), &header))
      return error("cannot read the program headers");
    if (header.p_type != PT_LOAD) continue;
    segments_.push_back({.address = header.p_vaddr,
                         .file_offset = header.p_offset,
                         .file_size = header.p_filesz,
                         .is_executable = (header.p_flags & PF_X) != 0});
  }
  return Done{};
}

// --- sections -------------------------------------------------------------------------------

// The name of a section, or "" when the file does not say.
static std::string_view section_name(Elf* elf, const GElf_Shdr& header) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  const char* name = elf_strptr(elf, names, header.sh_name);
  return name ? std::string_view(name) : std::string_view();
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

Status ElfFile::read_sections() {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section))) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) return error("cannot read the section headers");
    if (header.sh_type == SHT_SYMTAB) has_symbol_table_ = true;
  }
  Status status = visit_notes(".note.gnu.build-id", [&](const ElfNote& note) {
    if (note.owner == "GNU" && note.type == NT_GNU_BUILD_ID) build_id_ = hex_of(note.content);
  });
  return status;
}

std::optional<ElfSection> ElfFile::section(std::string_view name) const {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section))) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || section_name(elf_.get(), header) != name) continue;
    return ElfSection{header.sh_addr, header.sh_offset, header.sh_size};
  }
  return std::nullopt;
}

Bytes ElfFile::section_bytes(std::string_view name) const {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section))) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || section_name(elf_.get(), header) != name) continue;
    // A debug file keeps the header of what it does not hold.
    Elf_Data* data = header.sh_type == SHT_NOBITS ? nullptr : elf_rawdata(section, nullptr);
    if (!data || !data->d_buf) return {};
    return std::as_bytes(std::span(static_cast<const char*>(data->d_buf), data->d_size));
  }
  return {};
}

Status ElfFile::visit_notes(std::string_view wanted,
                            const std::function<void(const ElfNote&)>& visit) const {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section))) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) return error("cannot read the section headers");
    if (header.sh_type != SHT_NOTE || section_name(elf_.get(), header) != wanted) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (!data) return error("cannot read section " + std::string(wanted));
    size_t offset = 0, name_at, content_at;
    GElf_Nhdr note;
    while ((offset = gelf_getnote(data, offset, &note, &name_at, &content_at)) > 0) {
      const char* bytes = static_cast<const char*>(data->d_buf);
      std::string_view owner(bytes + name_at, note.n_namesz);
      visit({.owner = owner.substr(0, owner.find('\0')),
             .type = static_cast<uint32_t>(note.n_type),
             .content = std::as_bytes(std::span(bytes + content_at, note.n_descsz))});
    }
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

// --- symbols --------------------------------------------------------------------------------

static SymbolBinding binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_LOCAL: return SymbolBinding::Local;
    case STB_WEAK: return SymbolBinding::Weak;
    default: return SymbolBinding::Global;
  }
}

static std::optional<SymbolKind> kind_of(const GElf_Sym& symbol) {
  switch (GELF_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC: return SymbolKind::Function;
    case STT_OBJECT: return SymbolKind::Object;
    default: return std::nullopt;
  }
}

static std::optional<ElfSymbol> symbol_at(Elf* elf, Elf_Data* data, int i, size_t strings) {
  GElf_Sym symbol;
  if (!gelf_getsym(data, i, &symbol)) return std::nullopt;
  std::optional<SymbolKind> kind = kind_of(symbol);
  if (!kind || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return std::nullopt;
  const char* text = elf_strptr(elf, strings, symbol.st_name);
  if (!text || !*text) return std::nullopt;
  std::string_view name(text);
  if (size_t version = name.find('@'); version != name.npos && version > 0)
    name = name.substr(0, version);
  return ElfSymbol{.name = name,
                   .kind = *kind,
                   .binding = binding_of(symbol),
                   .address = symbol.st_value,
                   .size = symbol.st_size};
}

Status ElfFile::visit_symbols(const std::function<void(const ElfSymbol&)>& visit) const {
  for (uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_.get(), section))) {
      GElf_Shdr header;
      if (!gelf_getshdr(section, &header)) return error("cannot read the section headers");
      if (header.sh_type != wanted) continue;
      Elf_Data* data = elf_getdata(section, nullptr);
      size_t entry_size = gelf_fsize(elf_.get(), ELF_T_SYM, 1, EV_CURRENT);
      if (!data || entry_size == 0) return error("cannot read the symbol table");
      for (size_t i = 0; i < data->d_size / entry_size; i++) {
        std::optional<ElfSymbol> symbol =
            symbol_at(elf_.get(), data, static_cast<int>(i), header.sh_link);
        if (symbol) visit(*symbol);
      }
    }
  }
  return Done{};
}

Status ElfFile::visit_all_symbols(const std::function<void(const ElfSymbol&)>& visit,
                                  const std::string& debug_directory) const {
  if (Status status = visit_symbols(visit); !status) return status;
  if (has_symbol_table_) return Done{};
  // A debug file that is missing or broken only means fewer names.
  for (const std::string& file : debug_files(debug_directory)) {
    Result<ElfFile> debug = open(file);
    if (debug && debug->visit_symbols(visit)) break;
  }
  return Done{};
}

std::string ElfFile::debug_path(const std::string& directory) const {
  if (build_id_.size() < 4) return {};
  return directory + "/.build-id/" + build_id_.substr(0, 2) + "/" + build_id_.substr(2) + ".debug";
}

std::vector<std::string> ElfFile::debug_files(const std::string& directory) const {
  std::string by_id = debug_path(directory);
  if (by_id.empty()) return {};
  std::vector<std::string> files = {by_id};
  GElf_Word checksum = 0;
  if (const char* name = dwelf_elf_gnu_debuglink(elf_.get(), &checksum)) {
    std::string folder = path_.substr(0, path_.find_last_of('/') + 1);
    files.push_back(folder + name);
    files.push_back(folder + ".debug/" + name);
    if (folder.starts_with('/')) files.push_back(directory + folder + name);
  }
  std::erase_if(files, [&](const std::string& file) {
    Result<ElfFile> other = open(file);
    return file == path_ || !other || other->build_id() != build_id_;
  });
  return files;
}

Result<std::vector<UserFunction>> ElfFile::functions() const {
  std::vector<UserFunction> found;
  Status status = visit_all_symbols([&](const ElfSymbol& symbol) {
    if (symbol.kind != SymbolKind::Function) return;
    std::optional<uint64_t> offset = offset_of(symbol.address);
    if (!offset) return;
    found.push_back({std::string(symbol.name), symbol.address, *offset, symbol.size});
  });
  if (!status) return status.error();
  auto key = [](const UserFunction& f) { return std::tie(f.name, f.address); };
  std::sort(found.begin(), found.end(),
            [&](const UserFunction& a, const UserFunction& b) { return key(a) < key(b); });
  auto same = [&](const UserFunction& a, const UserFunction& b) { return key(a) == key(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::optional<ElfSymbol> ElfFile::find_object(std::string_view name) const {
  std::optional<ElfSymbol> found;
  (void)visit_all_symbols([&](const ElfSymbol& symbol) {
    if (found || symbol.kind != SymbolKind::Object || symbol.name != name) return;
    found = symbol;
    found->name = name;
  });
  return found;
}

}  // namespace flowtap
