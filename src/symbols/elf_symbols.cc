// The symbols of an ELF file; see elf_file.h. Entry points: ElfFile::visit_symbols(), functions().
//
// Names may overlap: a table of 20,000 symbols that share one name of a megabyte is a file of two.
// So what is limited is the sum of the lengths that we look at, not the size of the table.

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/interrupt.h"
#include "symbols/elf_file.h"

namespace flowtap {

static SymbolBinding binding_of(const Elf64_Sym& symbol) {
  switch (ELF64_ST_BIND(symbol.st_info)) {
    case STB_LOCAL: return SymbolBinding::Local;
    case STB_WEAK: return SymbolBinding::Weak;
    default: return SymbolBinding::Global;
  }
}

static std::optional<SymbolKind> kind_of(const Elf64_Sym& symbol) {
  switch (ELF64_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC: return SymbolKind::Function;
    case STT_OBJECT: return SymbolKind::Object;
    default: return std::nullopt;
  }
}

// What was read of one file; the limits are for both of its tables together.
struct ElfFile::SymbolReader {
  const ElfFile& file;
  const std::function<void(const ElfSymbol&)>& visit;
  uint64_t symbols = 0, name_bytes = 0, long_names = 0;

  Status read(const ElfSection& table);
  Status take(const Elf64_Sym& symbol, const std::vector<char>& strings);
  Error left_out(const std::string& what) const {
    return Error{"symbols of '" + file.path_ + "' are left out: " + what};
  }
};

static Elf64_Sym symbol_at(const std::vector<char>& table, size_t offset, bool is_64_bit) {
  Elf64_Sym symbol;
  Elf32_Sym narrow;
  if (is_64_bit) {
    std::memcpy(&symbol, table.data() + offset, sizeof symbol);
    return symbol;
  }
  std::memcpy(&narrow, table.data() + offset, sizeof narrow);
  return {.st_name = narrow.st_name,
          .st_info = narrow.st_info,
          .st_other = narrow.st_other,
          .st_shndx = narrow.st_shndx,
          .st_value = narrow.st_value,
          .st_size = narrow.st_size};
}

Status ElfFile::SymbolReader::read(const ElfSection& table) {
  if (table.link >= file.sections_.size() || table.flags & SHF_COMPRESSED)
    return file.error("cannot read the symbol table");
  const ElfSection& names = file.sections_[table.link];
  if (table.size == 0 || names.type == SHT_NOBITS) return Done{};
  uint64_t entry_size = file.is_64_bit_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  uint64_t most = std::min(table.size / entry_size, kMostElfSymbols - symbols);
  Result<std::vector<char>> entries = file.bytes(table.file_offset, most * entry_size);
  if (!entries) return entries.error();
  Result<std::vector<char>> strings = file.bytes(names.file_offset, names.size);
  if (!strings) return left_out(strings.error().message());
  symbols += most;
  constexpr uint64_t kBetweenLooks = 4096;
  for (uint64_t i = 0; i < most; i++) {
    if (i % kBetweenLooks == 0 && is_reading_over()) return left_out(why_reading_is_over());
    Status taken = take(symbol_at(*entries, i * entry_size, file.is_64_bit_), *strings);
    if (!taken) return taken;
  }
  if (most < table.size / entry_size)
    return left_out("there are more than " + std::to_string(kMostElfSymbols));
  return Done{};
}

Status ElfFile::SymbolReader::take(const Elf64_Sym& symbol, const std::vector<char>& strings) {
  std::optional<SymbolKind> kind = kind_of(symbol);
  bool is_elsewhere = symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0;
  if (!kind || is_elsewhere || symbol.st_name >= strings.size()) return Done{};
  const char* text = strings.data() + symbol.st_name;
  uint64_t most = std::min(strings.size() - symbol.st_name, kLongestElfName);
  const char* end = static_cast<const char*>(std::memchr(text, '\0', most));
  name_bytes += end ? static_cast<uint64_t>(end - text) : most;
  if (name_bytes > kMostElfNameBytes)
    return left_out("their names have more than " + std::to_string(kMostElfNameBytes >> 20) +
                    " MB");
  if (!end && most == kLongestElfName) long_names++;
  if (!end || end == text) return Done{};
  std::string_view name(text, static_cast<size_t>(end - text));
  if (size_t version = name.find('@'); version != name.npos && version > 0)
    name = name.substr(0, version);
  visit({.name = name,
         .kind = *kind,
         .binding = binding_of(symbol),
         .is_resolver = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
         .address = symbol.st_value,
         .size = symbol.st_size});
  return Done{};
}

Status ElfFile::visit_symbols(const std::function<void(const ElfSymbol&)>& visit) const {
  SymbolReader reader{*this, visit};
  for (uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    // There can be no second one of a kind.
    auto table = std::find_if(sections_.begin(), sections_.end(),
                              [&](const ElfSection& section) { return section.type == wanted; });
    if (table == sections_.end()) continue;
    if (Status read = reader.read(*table); !read) return read;
  }
  if (reader.long_names > 0)
    return reader.left_out(std::to_string(reader.long_names) +
                           (reader.long_names == 1 ? " name is" : " names are") + " longer than " +
                           std::to_string(kLongestElfName >> 10) + " KB");
  return Done{};
}

// FNV-1a.
static void add_to_hash(uint64_t& hash, std::string_view bytes) {
  for (char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
}

std::optional<uint64_t> ElfFile::hash_of_symbols() const {
  constexpr uint64_t kMostBytes = 16 << 20;
  uint64_t hash = 0xcbf29ce484222325, all = 0;
  auto add_number = [&](uint64_t number) {
    add_to_hash(hash, {reinterpret_cast<const char*>(&number), sizeof number});
  };
  add_to_hash(hash, build_id_);  // of the separate debug file, too
  for (const ElfSegment& segment : segments_)
    for (uint64_t number : {segment.address, segment.file_offset, segment.file_size})
      add_number(number);
  for (const ElfSection& section : sections_) {
    bool has_names = section.type == SHT_SYMTAB || section.type == SHT_DYNSYM;
    if (!has_names && section.type != SHT_STRTAB) continue;
    add_number(section.type);
    add_number(section.size);
    if (section.size > kMostBytes || (all += section.size) > kMostBytes) return std::nullopt;
    Result<std::vector<char>> content = bytes(section.file_offset, section.size);
    if (!content) return std::nullopt;
    add_to_hash(hash, {content->data(), content->size()});
  }
  return hash;
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

// --- debug files ----------------------------------------------------------------------------

std::string ElfFile::debug_path(const std::string& directory) const {
  if (build_id_.size() < 4) return {};
  return directory + "/.build-id/" + build_id_.substr(0, 2) + "/" + build_id_.substr(2) + ".debug";
}

std::vector<std::string> ElfFile::debug_files(const std::string& directory) const {
  std::string by_id = debug_path(directory);
  if (by_id.empty()) return {};
  std::vector<std::string> files = {by_id};
  Result<std::vector<char>> link = section_bytes(".gnu_debuglink");
  if (link && !link->empty() && link->front() != '\0') {
    std::string name(link->begin(), std::find(link->begin(), link->end(), '\0'));
    std::string folder = path_.substr(0, path_.find_last_of('/') + 1);
    files.push_back(folder + name);
    files.push_back(folder + ".debug/" + name);
    if (folder.starts_with('/')) files.push_back(directory + folder + name);
  }
  std::erase_if(files, [&](const std::string& file) {
    Result<ElfFile> other = open(file);
    if (file == path_ || !other || other->build_id() != build_id_) return true;
    uid_t owner = other->file_->info().st_uid;
    return owner != 0 && file_ && owner != file_->info().st_uid;
  });
  return files;
}

// --- lists ----------------------------------------------------------------------------------

ElfFile::Functions ElfFile::functions(std::string_view name) const {
  Functions out;
  std::vector<UserFunction>& found = out.found;
  out.status = visit_all_symbols([&](const ElfSymbol& symbol) {
    if (symbol.kind != SymbolKind::Function || (!name.empty() && symbol.name != name)) return;
    std::optional<uint64_t> offset = offset_of(symbol.address);
    if (!offset) return;
    found.push_back(
        {std::string(symbol.name), symbol.address, *offset, symbol.size, symbol.is_resolver});
  });
  auto key = [](const UserFunction& f) { return std::tie(f.name, f.address); };
  std::sort(found.begin(), found.end(),
            [&](const UserFunction& a, const UserFunction& b) { return key(a) < key(b); });
  auto same = [&](const UserFunction& a, const UserFunction& b) { return key(a) == key(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return out;
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
