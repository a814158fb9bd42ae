// Way in: find_implementations(). Relocations say where in memory the linker has written addresses
// of implementations (slots); these are read from the processes.

#include "symbols/indirect_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.h"
#include "base/fd.h"
#include "symbols/process_maps.h"

namespace flowtap {

namespace {

constexpr uint64_t kMostRelocations = 1'000'000;

struct Slot {
  uint64_t address = 0;  // where it is, as the file counts
  uint64_t resolver = 0;
};

template <typename T>
std::vector<T> table_of(const ElfFile& file, const ElfSection& section) {
  uint64_t count = std::min(section.size / sizeof(T), kMostRelocations);
  Result<std::vector<char>> bytes = file.bytes(section.file_offset, count * sizeof(T));
  if (!bytes) return {};
  std::vector<T> table(count);
  std::memcpy(table.data(), bytes->data(), count * sizeof(T));
  return table;
}

class Finder {
 public:
  Finder(const ElfFile& library, const std::vector<UserFunction>& resolvers,
         const IndirectRelocations& kinds, const std::string& proc)
      : library_(library), kinds_(kinds), proc_(proc) {
    for (const UserFunction& one : resolvers) {
      resolvers_.insert(one.address);
      by_name_.emplace(one.name, one.address);
    }
  }

  void look_at(pid_t pid) {
    ProcessFiles files(pid, proc_);
    std::vector<Mapping> mappings = files.executable_mappings();
    auto is_it = [&](const Mapping& mapping) {
      if (!mapping.is_file()) return false;
      std::optional<FileIdentity> identity = files.identity_of_mapped(mapping);
      return identity && identity->is_unchanged(library_.identity());
    };
    auto own = std::find_if(mappings.begin(), mappings.end(), is_it);
    if (own == mappings.end()) return;
    Fd memory(::open((proc_ + "/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.valid()) return;
    std::optional<uint64_t> bias = bias_of(library_, *own);
    if (!bias) return;
    read(memory.get(), own_slots(), *bias, *bias);
    // The library itself may have no use for some of its functions.
    std::set<std::string> seen;
    for (const Mapping& mapping : mappings)
      if (mapping.is_file() && mapping.inode != own->inode && seen.insert(mapping.path).second)
        look_at_user(files, mapping, memory.get(), *bias);
  }

  std::map<uint64_t, std::set<uint64_t>> found;

 private:
  // What is added to the file's addresses in this process.
  static std::optional<uint64_t> bias_of(const ElfFile& file, const Mapping& mapping) {
    for (const ElfSegment& segment : file.segments()) {
      uint64_t page = mapping.file_offset;
      bool begins_here = segment.is_executable && segment.file_offset >= page &&
                         segment.file_offset - page < mapping.end - mapping.begin;
      if (begins_here) return mapping.begin + (segment.file_offset - page) - segment.address;
    }
    return std::nullopt;
  }

  const std::vector<Slot>& own_slots() {
    if (own_slots_) return *own_slots_;
    own_slots_.emplace();
    for (const ElfSection& section : library_.sections())
      if (section.type == SHT_RELA && section.flags & SHF_ALLOC)
        for (const Elf64_Rela& one : table_of<Elf64_Rela>(library_, section))
          if (ELF64_R_TYPE(one.r_info) == kinds_.resolved)
            add_slot(*own_slots_, one.r_offset, static_cast<uint64_t>(one.r_addend));
    return *own_slots_;
  }

  void add_slot(std::vector<Slot>& slots, uint64_t address, uint64_t resolver) const {
    if (resolvers_.contains(resolver)) slots.push_back({address, resolver});
  }

  void look_at_user(const ProcessFiles& files, const Mapping& mapping, int memory,
                    uint64_t library_bias) {
    Result<ForeignFile> opened = files.open_mapped(mapping, std::nullopt);
    if (!opened) return;
    FileIdentity identity = identity_of(opened->info());
    Result<ElfFile> file = ElfFile::read(std::move(*opened));
    if (!file || !file->is_64_bit()) return;
    auto [user, is_new] = users_.try_emplace(identity);
    if (is_new) user->second = slots_of_user(*file);
    if (user->second.empty()) return;
    if (std::optional<uint64_t> bias = bias_of(*file, mapping))
      read(memory, user->second, *bias, library_bias);
  }

  std::vector<Slot> slots_of_user(const ElfFile& file) const {
    std::vector<Slot> slots;
    for (const ElfSection& section : file.sections()) {
      if (section.type != SHT_RELA || !(section.flags & SHF_ALLOC)) continue;
      if (section.link >= file.sections().size()) continue;
      const ElfSection& symbols = file.sections()[section.link];
      if (symbols.type != SHT_DYNSYM || symbols.link >= file.sections().size()) continue;
      const ElfSection& names = file.sections()[symbols.link];
      std::vector<Elf64_Sym> table = table_of<Elf64_Sym>(file, symbols);
      Result<std::vector<char>> strings = file.bytes(names.file_offset, names.size);
      if (strings) add_named(slots, table_of<Elf64_Rela>(file, section), table, *strings);
    }
    return slots;
  }

  void add_named(std::vector<Slot>& slots, const std::vector<Elf64_Rela>& relocations,
                 const std::vector<Elf64_Sym>& symbols, const std::vector<char>& strings) const {
    for (const Elf64_Rela& one : relocations) {
      auto type = static_cast<uint32_t>(ELF64_R_TYPE(one.r_info));
      uint64_t symbol = ELF64_R_SYM(one.r_info);
      bool is_of_symbol = type == kinds_.call_slot || type == kinds_.global_data;
      if (!is_of_symbol || symbol >= symbols.size()) continue;
      uint32_t at = symbols[symbol].st_name;
      if (at >= strings.size()) continue;
      std::string_view name(strings.data() + at,
                            ::strnlen(strings.data() + at, strings.size() - at));
      auto [first, end] = by_name_.equal_range(std::string(name));
      for (; first != end; first++) slots.push_back({one.r_offset, first->second});
    }
  }

  // What is not in the library's code was not resolved yet, or is another library's.
  void read(int memory, const std::vector<Slot>& slots, uint64_t bias, uint64_t library_bias) {
    for (const Slot& slot : slots) {
      uint64_t value = 0;
      auto at = static_cast<off_t>(bias + slot.address);
      if (::pread(memory, &value, sizeof value, at) != sizeof value) continue;
      uint64_t address = value - library_bias;
      if (address != slot.resolver && library_.code_offset(address))
        found[slot.resolver].insert(address);
    }
  }

  const ElfFile& library_;
  const IndirectRelocations& kinds_;
  std::string proc_;
  std::set<uint64_t> resolvers_;
  std::multimap<std::string, uint64_t> by_name_;
  std::optional<std::vector<Slot>> own_slots_;
  std::map<FileIdentity, std::vector<Slot>> users_;
};

}  // namespace

std::map<uint64_t, std::set<uint64_t>> find_implementations(
    const ElfFile& library, const std::vector<UserFunction>& resolvers,
    const IndirectRelocations& kinds, std::optional<pid_t> only, const std::string& proc) {
  if (!library.is_64_bit() || kinds.resolved == 0) return {};
  Finder finder(library, resolvers, kinds, proc);
  if (only) {
    finder.look_at(*only);
    return finder.found;
  }
  Result<std::vector<std::string>> names = names_in(proc);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    pid_t pid = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) finder.look_at(pid);
  }
  return finder.found;
}

}  // namespace flowtap
