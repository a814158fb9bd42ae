// Entry point: find_implementations(). Relocations say where in memory the linker has written
// addresses of implementations (slots); these are read from the processes.

#include "symbols/indirect_functions.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "symbols/indirect_slots.h"
#include "symbols/process_maps.h"

namespace flowtap {

namespace {

class Finder {
 public:
  Finder(const ElfFile& library, const std::vector<UserFunction>& resolvers,
         const IndirectRelocations& kinds, const std::string& proc)
      : library_(library), wanted_(resolvers, kinds), proc_(proc) {}

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
    std::optional<uint64_t> bias = bias_of(library_.segments(), *own);
    if (!bias) return;
    if (!own_slots_) own_slots_ = wanted_.of_library(library_);
    read(memory.get(), *own_slots_, *bias, *bias);
    // The library itself may have no use for some of its functions.
    std::set<std::string> seen;
    for (const Mapping& mapping : mappings) {
      if (is_reading_over()) return;
      if (mapping.is_file() && mapping.inode != own->inode && seen.insert(mapping.path).second)
        look_at_user(files, mapping, memory.get(), *bias);
    }
  }

  std::map<uint64_t, std::set<uint64_t>> found;

 private:
  // A file that may call functions of the library.
  struct User {
    std::vector<ElfSegment> segments;
    std::vector<IndirectSlot> slots;
  };

  // What is added to the file's addresses in this process.
  static std::optional<uint64_t> bias_of(const std::vector<ElfSegment>& segments,
                                         const Mapping& mapping) {
    for (const ElfSegment& segment : segments) {
      uint64_t page = mapping.file_offset;
      bool begins_here = segment.is_executable && segment.file_offset >= page &&
                         segment.file_offset - page < mapping.end - mapping.begin;
      if (begins_here) return mapping.begin + (segment.file_offset - page) - segment.address;
    }
    return std::nullopt;
  }

  const User& user_of(const ProcessFiles& files, const Mapping& mapping,
                      const FileIdentity& identity) {
    auto [user, is_new] = users_.try_emplace(identity);
    if (!is_new) return user->second;
    Result<ForeignFile> opened = files.open_mapped(mapping, identity);
    Result<ElfFile> file = opened ? ElfFile::read(std::move(*opened)) : opened.error();
    if (file && file->is_64_bit())
      user->second = {.segments = file->segments(), .slots = wanted_.of_user(*file)};
    return user->second;
  }

  void look_at_user(const ProcessFiles& files, const Mapping& mapping, int memory,
                    uint64_t library_bias) {
    std::optional<FileIdentity> identity = files.identity_of_mapped(mapping);
    if (!identity) return;
    const User& user = user_of(files, mapping, *identity);
    if (user.slots.empty()) return;
    if (std::optional<uint64_t> bias = bias_of(user.segments, mapping))
      read(memory, user.slots, *bias, library_bias);
  }

  // What is not in the library's code was not resolved yet, or is another library's.
  void read(int memory, const std::vector<IndirectSlot>& slots, uint64_t bias,
            uint64_t library_bias) {
    for (const IndirectSlot& slot : slots) {
      uint64_t value = 0;
      auto at = static_cast<off_t>(bias + slot.address);
      if (::pread(memory, &value, sizeof value, at) != sizeof value) continue;
      uint64_t address = value - library_bias;
      if (address != slot.resolver && library_.code_offset(address))
        found[slot.resolver].insert(address);
    }
  }

  const ElfFile& library_;
  IndirectSlots wanted_;
  std::string proc_;
  std::optional<std::vector<IndirectSlot>> own_slots_;
  std::map<FileIdentity, User> users_;
};

}  // namespace

std::map<uint64_t, std::set<uint64_t>> find_implementations(
    const ElfFile& library, const std::vector<UserFunction>& resolvers,
    const IndirectRelocations& kinds, std::optional<pid_t> only, const std::string& proc) {
  if (!library.is_64_bit() || kinds.resolved == 0) return {};
  ReadingOfOthers reading;
  Finder finder(library, resolvers, kinds, proc);
  if (only) {
    finder.look_at(*only);
    return finder.found;
  }
  Result<std::vector<std::string>> names = names_in(proc);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (is_reading_over()) break;
    pid_t pid = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) finder.look_at(pid);
  }
  return finder.found;
}

}  // namespace flowtap
