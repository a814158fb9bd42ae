// Names addresses of user processes. Entry points: UserSymbols::resolve() and remember().
//
//   address --/proc/PID/maps--> file and offset --segments--> address in the file --> symbol
//
// Each step is cached: the mappings of a process for a moment (it may load a library, or become
// another program by exec), and beyond its end; symbol tables as long as there is room. A file is
// known by device, inode, size and the time of its last change: a program that is built again may
// get the inode of the one before, and a build id can be copied by anybody. One that was only
// renamed or linked since has the same symbols. Code that is in no file
// was made by a just-in-time compiler, which may list its functions in a perf map.
//
// The processes decide what there is to read. So a list that takes long to read is believed longer,
// and what takes too much is left out, with a warning for each file.

#include "symbols/user_symbols.h"

#include <algorithm>

#include "base/interrupt.h"
#include "symbols/perf_map.h"
#include "symbols/vdso.h"

namespace flowtap {

static constexpr size_t kMostProcesses = 1000;
static constexpr size_t kMostListBytes = 64 << 20;
static constexpr size_t kMostHashes = 10'000;
static constexpr size_t kMostWarnings = 20;

using Clock = UserSymbols::Clock;

// What is long is not read again soon: that takes a twentieth of the time at most.
static constexpr size_t kLongList = 1000;
static constexpr uint64_t kLongPerfMap = 1 << 20;
static constexpr int kShareOfTime = 20;

void UserSymbols::warn(const std::string& text) {
  bool is_new = warned_.size() < kMostWarnings && warned_.insert(text).second;
  if (!is_new) return;
  warnings_.push_back(text);
  if (warned_.size() == kMostWarnings)
    warnings_.push_back("names of more files are left out, which is not reported");
}

void UserSymbols::warn_of_the_end() {
  warn(std::string(why_reading_is_over()) + ": addresses are shown without names");
}

// --- processes ------------------------------------------------------------------------------

// The identity of a file is kept until the process can be asked again: it may end before.
void UserSymbols::take_list(pid_t pid, Process& process, const ProcessImage& id,
                            std::vector<Mapping> list) {
  Image& now = process.now;
  if (id != now.id || now.mapped.empty()) {
    if (!now.mapped.empty()) process.earlier = std::move(now);
    now = Image{.id = id,
                .status = ProcessFiles(pid, proc_).status(),
                .mapped = {},
                .perf_map = {},
                .look_again_at = {}};
  }
  std::vector<Mapped> before = std::exchange(now.mapped, {});
  auto old = before.begin();
  for (Mapping& mapping : list) {
    while (old != before.end() && old->mapping.begin < mapping.begin) ++old;
    bool is_same = old != before.end() && old->mapping == mapping;
    now.mapped.push_back({std::move(mapping), is_same ? old->file : std::nullopt});
  }
}

size_t UserSymbols::bytes_of(const Image& image) {
  size_t bytes = 0;
  for (const Mapped& mapped : image.mapped) bytes += sizeof mapped + mapped.mapping.path.size();
  return bytes;
}

void UserSymbols::refresh(pid_t pid, Process& process) {
  ReadingOfOthers reading;
  Clock::time_point begun = Clock::now();
  ProcessFiles files(pid, proc_);
  ProcessImage id = files.image();
  std::vector<Mapping> list = files.executable_mappings();
  // A process that has ended shows none; then those of its lifetime are what is wanted.
  if (!list.empty()) take_list(pid, process, id, std::move(list));
  list_bytes_ -= process.list_bytes;
  list_bytes_ += process.list_bytes = bytes_of(process.now) + bytes_of(process.earlier);
  process.read_at = Clock::now();
  process.believed = believed_;
  if (process.now.mapped.size() >= kLongList)
    process.believed = std::max(believed_, kShareOfTime * (*process.read_at - begun));
}

void UserSymbols::drop_oldest_processes() {
  auto older = [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; };
  while (processes_.size() >= kMostProcesses || list_bytes_ > kMostListBytes) {
    auto oldest = std::min_element(processes_.begin(), processes_.end(), older);
    list_bytes_ -= oldest->second.list_bytes;
    processes_.erase(oldest);
  }
}

UserSymbols::Process& UserSymbols::process_of(pid_t pid) {
  auto known = processes_.find(pid);
  if (known == processes_.end()) {
    drop_oldest_processes();
    known = processes_.emplace(pid, Process()).first;
  }
  known->second.last_use = ++uses_;
  return known->second;
}

void UserSymbols::remember(pid_t pid) {
  Process& process = process_of(pid);
  refresh(pid, process);
  for (Mapped& mapped : process.now.mapped) {
    if (is_reading_over()) return;
    identify(pid, mapped);
  }
}

void UserSymbols::read_tables(pid_t pid) {
  for (Mapped& mapped : process_of(pid).now.mapped) code_of(pid, mapped, true);
}

UserSymbols::Mapped* UserSymbols::mapping_at(std::vector<Mapped>& mapped, uint64_t address) {
  auto after = std::upper_bound(
      mapped.begin(), mapped.end(), address,
      [](uint64_t wanted, const Mapped& one) { return wanted < one.mapping.begin; });
  bool is_found = after != mapped.begin() && address < std::prev(after)->mapping.end;
  return is_found ? &*std::prev(after) : nullptr;
}

// Reads the list of mappings if it is old, or does not have the address.
void UserSymbols::look_for(pid_t pid, Process& process, uint64_t address) {
  if (!process.read_at || Clock::now() - *process.read_at >= process.believed)
    refresh(pid, process);
  if (mapping_at(process.now.mapped, address)) return;
  // Perhaps a library was loaded since; but a stack full of nonsense must not make us read the
  // list again for each of its addresses.
  if (Clock::now() - *process.read_at >= process.believed / 10) refresh(pid, process);
}

// --- files ----------------------------------------------------------------------------------

void UserSymbols::identify(pid_t pid, Mapped& mapped) {
  if (mapped.is_known_now || !mapped.mapping.is_file()) return;
  std::optional<FileIdentity> file = ProcessFiles(pid, proc_).identity_of_mapped(mapped.mapping);
  if (!file) return;
  mapped.file = file;
  mapped.is_known_now = true;
  if (hashes_.contains(*file)) return;
  if (hashes_.size() >= kMostHashes) hashes_.clear();
  ReadingOfOthers reading;
  hashes_.emplace(*file, ProcessFiles(pid, proc_).symbols_of_mapped(mapped.mapping, *file));
}

TableCache::Code UserSymbols::keep(const ElfFile& file, const FileIdentity& id) {
  auto code = std::make_shared<NamedCode>();
  Status status = Done{};
  code->table = SymbolTable::from_elf(file, &status);
  for (const ElfSegment& segment : file.segments())
    if (segment.is_executable) code->segments.push_back(segment);
  if (!status && is_reading_over())
    warn_of_the_end();
  else if (!status)
    warn(status.error().message());
  cache_.add(id, code);
  return code;
}

TableCache::Code UserSymbols::load(pid_t pid, Mapped& mapped) {
  ReadingOfOthers reading;
  if (mapped.mapping.path == kVdso) {
    Result<ElfFile> vdso = open_vdso();
    return vdso ? keep(*vdso, FileIdentity()) : nullptr;
  }
  // What cannot be opened now may be, through another process that has it mapped.
  auto hash = mapped.file ? hashes_.find(*mapped.file) : hashes_.end();
  Result<ForeignFile> file = ProcessFiles(pid, proc_)
                                 .open_mapped(mapped.mapping, mapped.file,
                                              hash == hashes_.end() ? std::nullopt : hash->second);
  if (!file) return nullptr;
  FileIdentity id = identity_of(file->info());
  mapped.file = id;
  if (const TableCache::Code* known = cache_.find(id)) return *known;
  if (keeps_one_table_) cache_.clear();
  Result<ElfFile> elf = ElfFile::read(std::move(*file));
  if (elf) return keep(*elf, id);
  cache_.add(id, nullptr);
  return nullptr;
}

// Null: there are no names for it. What the process had mapped before can no longer be asked for.
TableCache::Code UserSymbols::code_of(pid_t pid, Mapped& mapped, bool is_now) {
  bool is_vdso = mapped.mapping.path == kVdso;
  if (!mapped.mapping.is_file() && !is_vdso) return nullptr;
  if (is_now) identify(pid, mapped);
  if (!is_now && !is_vdso && !mapped.file) return nullptr;
  std::optional<FileIdentity> id = is_vdso ? FileIdentity() : mapped.file;
  if (const TableCache::Code* known = id ? cache_.find(*id) : nullptr) return *known;
  if (!is_reading_over()) return load(pid, mapped);
  warn_of_the_end();
  return nullptr;
}

// --- just-in-time compilers -----------------------------------------------------------------

void UserSymbols::read_perf_map_of(pid_t pid, Image& image) {
  Result<std::optional<ForeignFile>> file =
      find_perf_map({pid, image.status, image.id.started}, proc_);
  if (!file) return warn(file.error().message());
  if (!*file) return;
  FileIdentity id = identity_of((*file)->info());
  if (cache_.find(id)) {
    image.perf_map = id;
    return;
  }
  Result<SymbolTable> table = read_perf_map(**file);
  if (!table) warn(table.error().message());
  if (table && table->has_long_lines())
    warn("lines of the perf map '" + (*file)->path() + "' with more than " +
         std::to_string(kLongestElfName >> 10) + " KB are left out");
  if (image.perf_map) cache_.remove(*image.perf_map);  // it was shorter
  image.perf_map = id;
  cache_.add(id,
             std::make_shared<NamedCode>(NamedCode{table ? std::move(*table) : SymbolTable(), {}}));
}

void UserSymbols::look_for_perf_map(pid_t pid, Image& image) {
  Clock::time_point begun = Clock::now();
  if (begun < image.look_again_at || is_reading_over()) return;
  ReadingOfOthers reading;
  read_perf_map_of(pid, image);
  Clock::time_point end = Clock::now();
  image.look_again_at = end + believed_;
  if (image.perf_map && image.perf_map->size >= kLongPerfMap)
    image.look_again_at = end + std::max(believed_, kShareOfTime * (end - begun));
}

std::optional<UserSymbol> UserSymbols::find_in_perf_map(pid_t pid, Image& image, uint64_t address,
                                                        bool is_now) {
  if (is_now) look_for_perf_map(pid, image);
  const TableCache::Code* code = image.perf_map ? cache_.find(*image.perf_map) : nullptr;
  std::optional<FoundSymbol> found = code ? (*code)->table.find(address) : std::nullopt;
  if (!found) return std::nullopt;
  return UserSymbol{std::string(found->name), found->offset, "[jit]"};
}

// --- the entry point ------------------------------------------------------------------------

std::optional<UserSymbol> UserSymbols::resolve_in(pid_t pid, Image& image, uint64_t address,
                                                  bool is_now) {
  Mapped* mapped = mapping_at(image.mapped, address);
  if (!mapped) return find_in_perf_map(pid, image, address, is_now);
  const Mapping& mapping = mapped->mapping;
  uint64_t offset = address - mapping.begin + mapping.file_offset;
  TableCache::Code code = code_of(pid, *mapped, is_now);
  if (!code) {
    // Some compilers write to memory that looks like a file.
    std::optional<UserSymbol> compiled = find_in_perf_map(pid, image, address, is_now);
    if (compiled) return compiled;
    return UserSymbol{"", offset, mapping.path.empty() ? "[anon]" : mapping.path};
  }
  uint64_t file_address = code->address_of(offset).value_or(offset);
  std::optional<FoundSymbol> found = code->table.find(file_address);
  if (!found) return UserSymbol{"", file_address, mapping.path};
  return UserSymbol{std::string(found->name), found->offset, mapping.path};
}

std::optional<UserSymbol> UserSymbols::resolve(pid_t pid, uint64_t address) {
  Process& process = process_of(pid);
  look_for(pid, process, address);
  std::optional<UserSymbol> now = resolve_in(pid, process.now, address, true);
  if (process.earlier.mapped.empty()) return now;
  std::optional<UserSymbol> earlier = resolve_in(pid, process.earlier, address, false);
  if (!now || !earlier) return now ? now : earlier;
  return *now == *earlier ? now : std::nullopt;
}

}  // namespace flowtap
