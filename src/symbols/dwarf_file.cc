// Opening debug information; see dwarf_file.h.
//
// libdw trusts files more than we may: it maps them (one that is cut short then kills us), unpacks
// compressed sections whatever they become, and opens other files that they name. So it gets a copy
// in memory, after the sizes were checked; we find the file of common parts ourselves and hide the
// name of it; and files that need further ones (.dwo) are refused.

#include "symbols/dwarf_file.h"

#include <dwarf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/interrupt.h"

namespace flowtap {

namespace {

constexpr uint64_t kMostBytes = 512 << 20;  // of a file, and of what its sections become
// Compressed debug information becomes four times as long, or ten times; a bomb a thousand times.
constexpr uint64_t kMostGrowth = 32, kAlwaysAllowed = 16 << 20;
constexpr uint64_t kMostAbbreviations = 32 << 20;  // in memory each of them takes 20 times as much
constexpr int kMostUnits = 1'000'000;
constexpr int kDeepestScope = 32;
constexpr const char* kCommonLink = ".gnu_debugaltlink";

// Bytes of a section when it is unpacked; as many as it has when it is not compressed.
uint64_t unpacked_size(const ElfFile& file, const ElfSection& section) {
  bool is_old_form = file.name_of(section).starts_with(".zdebug");
  if (!is_old_form && !(section.flags & SHF_COMPRESSED)) return section.size;
  // | u32 type | u32 | u64 size |, | u32 type | u32 size |, or "ZLIB" and a big-endian u64
  Result<std::vector<char>> head = file.bytes(section.file_offset, 16);
  if (!head) return 0;  // libelf refuses it as well
  Bytes bytes = std::as_bytes(std::span(*head));
  if (is_old_form) return __builtin_bswap64(load<uint64_t>(bytes, 4));
  return file.is_64_bit() ? load<uint64_t>(bytes, 8) : load<uint32_t>(bytes, 4);
}

Status check_sizes(const ElfFile& file) {
  uint64_t all = 0;
  for (const ElfSection& section : file.sections()) {
    std::string_view name = file.name_of(section);
    bool is_debug = name.find("debug") != name.npos;
    if (!is_debug || section.type == SHT_NOBITS) continue;
    uint64_t size = unpacked_size(file, section);
    uint64_t most = std::min(kMostBytes, kAlwaysAllowed + section.size * kMostGrowth);
    if (name.find("abbrev") != name.npos) most = std::min(most, kMostAbbreviations);
    if (size > most || (all += size) > kMostBytes)
      return Error{"the debug information of '" + file.path() + "' is too large: section " +
                   std::string(name) + " has " + std::to_string(size >> 20) + " MB"};
  }
  return Done{};
}

// | name | NUL | build id |
struct CommonLink {
  std::string name, build_id;
};

std::optional<CommonLink> common_link(const ElfFile& file) {
  static constexpr char kDigits[] = "0123456789abcdef";
  Result<std::vector<char>> bytes = file.section_bytes(kCommonLink);
  if (!bytes || bytes->empty()) return std::nullopt;
  auto end = std::find(bytes->begin(), bytes->end(), '\0');
  CommonLink link{.name = {bytes->begin(), end}, .build_id = {}};
  if (bytes->end() - end < 2 || bytes->end() - end > 65) return std::nullopt;
  for (auto byte = end + 1; byte != bytes->end(); byte++) {
    link.build_id += kDigits[static_cast<uint8_t>(*byte) >> 4];
    link.build_id += kDigits[static_cast<uint8_t>(*byte) & 15];
  }
  return link;
}

std::vector<std::string> places_of(const CommonLink& link, const std::string& path) {
  std::string by_id = std::string(ElfFile::kDebugDirectory) + "/.build-id/" +
                      link.build_id.substr(0, 2) + "/" + link.build_id.substr(2) + ".debug";
  std::string folder = path.substr(0, path.find_last_of('/') + 1);
  return {by_id, link.name.starts_with('/') ? link.name : folder + link.name};
}

}  // namespace

void DwarfFile::EndElf::operator()(Elf* elf) const { ::elf_end(elf); }

void DwarfFile::load(ElfFile file) {
  std::optional<CommonLink> link = common_link(file);
  file.hide_section(kCommonLink);
  file_ = std::make_unique<ElfFile>(std::move(file));
  std::span<char> image = file_->image();
  ::elf_version(EV_CURRENT);
  elf_.reset(::elf_memory(image.data(), image.size()));
  if (elf_) dwarf_.reset(::dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
  if (dwarf_ && link) find_common(link->name, link->build_id);
}

void DwarfFile::find_common(const std::string& name, const std::string& build_id) {
  for (const std::string& place : places_of({name, build_id}, file_->path())) {
    Result<std::optional<DwarfFile>> common = read(place);
    if (!common || !*common || (*common)->file_->build_id() != build_id) continue;
    common_ = std::make_unique<DwarfFile>(std::move(**common));
    return ::dwarf_setalt(dwarf_.get(), common_->dwarf_.get());
  }
}

Result<bool> DwarfFile::has_units() const {
  Dwarf_CU* unit = nullptr;
  int units = 0;
  uint8_t kind = 0;
  while (::dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &kind, nullptr, nullptr) == 0) {
    if (++units > kMostUnits)
      return Error{"it has more than " + std::to_string(kMostUnits) + " units"};
    if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
      return Error{"it is split (.dwo), which is not supported"};
  }
  return units > 0;
}

Result<std::optional<DwarfFile>> DwarfFile::read(const std::string& path) {
  Result<ForeignFile> file = ForeignFile::open(path);
  if (!file) return file.error();
  Result<std::vector<char>> bytes = file->read_all(kMostBytes);
  if (!bytes) return bytes.error();
  Result<ElfFile> elf = ElfFile::from_memory(std::move(*bytes), path);
  if (!elf) return elf.error();
  if (Status checked = check_sizes(*elf); !checked) return checked.error();
  DwarfFile info;
  info.load(std::move(*elf));
  if (!info.dwarf_) return std::optional<DwarfFile>();
  Result<bool> has_units = info.has_units();
  if (!has_units)
    return Error{"cannot read the debug information of '" + path + "': " + has_units.error().what};
  return *has_units ? std::optional(std::move(info)) : std::nullopt;
}

Result<DwarfFile> DwarfFile::open(const std::string& path) {
  ReadingOfOthers reading;
  Result<ElfFile> elf = ElfFile::open(path);
  if (!elf) return elf.error();
  std::vector<std::string> files = elf->debug_files();
  files.insert(files.begin(), path);
  for (const std::string& file : files) {
    Result<std::optional<DwarfFile>> info = read(file);
    if (!info) return info.error();
    if (*info) return std::move(**info);
  }
  return Error{"'" + path + "' has no debug information", 0,
               "compile it with -g, or install its debug package"};
}

void DwarfFile::visit_units(const std::function<bool(Dwarf_Die&)>& visit) const {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (::dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    if (is_reading_over() || !visit(die)) return;
}

static bool may_have_functions(int tag) {
  return tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_namespace ||
         tag == DW_TAG_module || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

// Not dwarf_getfuncs(), which goes as deep as a file says, and twice into what is imported twice.
static bool visit_functions_in(Dwarf_Die& parent, int depth,
                               const std::function<bool(Dwarf_Die&)>& visit) {
  Dwarf_Die child;
  constexpr uint64_t kBetweenLooks = 4096;
  if (depth > kDeepestScope || ::dwarf_child(&parent, &child) != 0) return true;
  for (uint64_t visited = 1;; visited++) {
    if (visited % kBetweenLooks == 0 && is_reading_over()) return false;
    int tag = ::dwarf_tag(&child);
    bool is_defined = tag == DW_TAG_subprogram && !::dwarf_hasattr(&child, DW_AT_declaration);
    if (is_defined && !visit(child)) return false;
    if (may_have_functions(tag) && !visit_functions_in(child, depth + 1, visit)) return false;
    if (::dwarf_siblingof(&child, &child) != 0) return true;
  }
}

void DwarfFile::visit_functions(Dwarf_Die& unit,
                                const std::function<bool(Dwarf_Die&)>& visit) const {
  visit_functions_in(unit, 0, visit);
}

std::optional<Dwarf_Die> DwarfFile::unit_at(uint64_t address) const {
  Dwarf_Die unit;
  if (!::dwarf_addrdie(dwarf_.get(), address, &unit)) return std::nullopt;
  return unit;
}

}  // namespace flowtap
