// Names addresses of user processes. Ways in: UserSymbols::resolve() and remember().
//
//   address --/proc/PID/maps--> file and offset --segments--> address in the file --> symbol
//
// Each step is cached: the mappings of a process for a second (it may load a library, or become
// another program by exec), and beyond its end; symbol tables of files for good. Two containers
// have the same library as two files, which the build id shows to be one; a file without build id
// is known by device and inode. Code that lies in no file was made by a just-in-time compiler,
// which may list its functions in /tmp/perf-PID.map, under its own idea of /tmp and of its PID.

#include "symbols/user_symbols.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "symbols/vdso.h"

namespace flowtap {

static constexpr size_t kMostProcesses = 1000;

// --- processes ------------------------------------------------------------------------------

void UserSymbols::refresh(pid_t pid, Process& process) {
  process.read_at = Clock::now();
  std::vector<Mapping> mappings = ProcessFiles(pid, proc_).executable_mappings();
  // A process that has ended shows none; then those of its lifetime are what is wanted.
  if (!mappings.empty()) process.mappings = std::move(mappings);
}

void UserSymbols::drop_oldest_process() {
  auto older = [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; };
  processes_.erase(std::min_element(processes_.begin(), processes_.end(), older));
}

UserSymbols::Process& UserSymbols::process_of(pid_t pid) {
  auto known = processes_.find(pid);
  if (known == processes_.end()) {
    if (processes_.size() >= kMostProcesses) drop_oldest_process();
    known = processes_.emplace(pid, Process()).first;
  }
  known->second.last_use = ++uses_;
  return known->second;
}

void UserSymbols::remember(pid_t pid) { refresh(pid, process_of(pid)); }

void UserSymbols::read_tables(pid_t pid) {
  for (const Mapping& mapping : process_of(pid).mappings) binary_of(pid, mapping);
}

static const Mapping* mapping_at(const std::vector<Mapping>& mappings, uint64_t address) {
  for (const Mapping& mapping : mappings)
    if (address >= mapping.begin && address < mapping.end) return &mapping;
  return nullptr;
}

const Mapping* UserSymbols::find_mapping(pid_t pid, Process& process, uint64_t address) {
  if (!process.read_at || Clock::now() - *process.read_at >= believed_) refresh(pid, process);
  if (const Mapping* found = mapping_at(process.mappings, address)) return found;
  // Perhaps a library was loaded since; but a stack full of nonsense must not make us read the
  // list again for each of its addresses.
  if (Clock::now() - *process.read_at < believed_ / 10) return nullptr;
  refresh(pid, process);
  return mapping_at(process.mappings, address);
}

// --- binaries -------------------------------------------------------------------------------

std::optional<uint64_t> UserSymbols::Binary::address_of(uint64_t file_offset) const {
  for (const ElfSegment& segment : segments)
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_size)
      return file_offset - segment.file_offset + segment.address;
  return std::nullopt;
}

std::shared_ptr<const UserSymbols::Binary> UserSymbols::keep(const ElfFile& file) {
  if (!file.build_id().empty()) {
    auto known = by_build_id_.find(file.build_id());
    if (known != by_build_id_.end()) return known->second;
  }
  auto binary = std::make_shared<Binary>();
  binary->table = SymbolTable::from_elf(file);
  for (const ElfSegment& segment : file.segments())
    if (segment.is_executable) binary->segments.push_back(segment);
  if (!file.build_id().empty()) by_build_id_[file.build_id()] = binary;
  return binary;
}

std::shared_ptr<const UserSymbols::Binary> UserSymbols::load_binary(pid_t pid,
                                                                    const Mapping& mapping) {
  ProcessFiles files(pid, proc_);
  std::string path = files.file_of(mapping);
  Result<ElfFile> file = mapping.path == kVdso ? open_vdso() : ElfFile::open(path);
  // A process that ends meanwhile takes the way through its root with it.
  if (!file && files.file_of(mapping) != path) file = ElfFile::open(files.file_of(mapping));
  return file ? keep(*file) : nullptr;
}

std::shared_ptr<const UserSymbols::Binary> UserSymbols::binary_of(pid_t pid,
                                                                  const Mapping& mapping) {
  if (!mapping.is_file() && mapping.path != kVdso) return nullptr;
  FileId id{mapping.device, mapping.inode};  // the vdso is 0, 0
  auto known = by_file_.find(id);
  if (known != by_file_.end()) return known->second;
  if (keeps_one_table_) {
    by_file_.clear();
    by_build_id_.clear();
  }
  std::shared_ptr<const Binary> binary = load_binary(pid, mapping);
  // What cannot be opened now may be, through another process that has it mapped.
  std::string path = ProcessFiles(pid, proc_).file_of(mapping);
  if (binary || ::access(path.c_str(), F_OK) == 0) by_file_[id] = binary;
  return binary;
}

// --- just-in-time compilers -----------------------------------------------------------------

void UserSymbols::read_perf_map(pid_t pid, PerfMap& map) {
  map.looked_at = Clock::now();
  ProcessFiles files(pid, proc_);
  std::string name = "/tmp/perf-" + std::to_string(files.inner_pid()) + ".map";
  struct stat info;
  for (const std::string& path :
       {files.path_from_here(name), "/tmp/perf-" + std::to_string(pid) + ".map"}) {
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_size == map.file_size) return;
    std::optional<std::string> text = read_file(path);
    if (!text) continue;
    map.table = SymbolTable::from_perf_map(*text);
    map.file_size = info.st_size;
    return;
  }
}

std::optional<UserSymbol> UserSymbols::find_in_perf_map(pid_t pid, Process& process,
                                                        uint64_t address) {
  if (!process.perf_map) {
    process.perf_map = std::make_unique<PerfMap>();
    read_perf_map(pid, *process.perf_map);
  } else if (Clock::now() - process.perf_map->looked_at >= believed_) {
    read_perf_map(pid, *process.perf_map);
  }
  std::optional<FoundSymbol> found = process.perf_map->table.find(address);
  if (!found) return std::nullopt;
  return UserSymbol{std::string(found->name), found->offset, "[jit]"};
}

// --- the way in -----------------------------------------------------------------------------

std::optional<UserSymbol> UserSymbols::resolve(pid_t pid, uint64_t address) {
  Process& process = process_of(pid);
  const Mapping* mapping = find_mapping(pid, process, address);
  if (!mapping) return find_in_perf_map(pid, process, address);
  uint64_t offset = address - mapping->begin + mapping->file_offset;
  std::shared_ptr<const Binary> binary = binary_of(pid, *mapping);
  if (!binary) {
    std::optional<UserSymbol> compiled = find_in_perf_map(pid, process, address);
    if (compiled) return compiled;
    return UserSymbol{"", offset, mapping->path.empty() ? "[anon]" : mapping->path};
  }
  uint64_t file_address = binary->address_of(offset).value_or(offset);
  std::optional<FoundSymbol> found = binary->table.find(file_address);
  if (!found) return UserSymbol{"", file_address, mapping->path};
  return UserSymbol{std::string(found->name), found->offset, mapping->path};
}

}  // namespace flowtap
