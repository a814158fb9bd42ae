#pragma once
// UserSymbols: names for addresses in user processes, as in stacks and usym().

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "symbols/process_maps.h"
#include "symbols/table_cache.h"

namespace flowtap {

struct UserSymbol {
  std::string name;     // mangled; empty when only the module is known
  uint64_t offset = 0;  // from the symbol, or without one from the module's first byte
  std::string module;   // the path as the process sees it, "[vdso]", "[jit]"...
  bool operator==(const UserSymbol&) const = default;
};

class UserSymbols {
 public:
  using Clock = std::chrono::steady_clock;

  // Tests pass another /proc, and how long a list of mappings is believed.
  explicit UserSymbols(std::string proc = "/proc",
                       Clock::duration believed = std::chrono::milliseconds(1))
      : proc_(std::move(proc)), believed_(believed) {}

  // Symbol tables are forgotten as soon as another one is needed: less memory, more time.
  void keep_one_table() { keeps_one_table_ = true; }

  // Nothing for an address outside of every mapping, or a process that is not known; nor for one
  // that may mean two things, since the process has called exec, or another has got its number.
  std::optional<UserSymbol> resolve(pid_t pid, uint64_t address);

  // Notes now what the process has mapped, so that its addresses have names after its end.
  void remember(pid_t pid);
  // Reads the symbols of all that the process has mapped: its files may vanish with it.
  void read_tables(pid_t pid);
  size_t tables() const { return cache_.size(); }

  // Files of which names are left out, each once, with the reason.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  struct Mapped {
    Mapping mapping;
    std::optional<FileIdentity> file;
    bool is_known_now = false;  // `file` is what the process has mapped at present
  };
  // A program in a process, from exec to exec.
  struct Image {
    ProcessImage id;
    ProcessStatus status;
    std::vector<Mapped> mapped;  // by address
    std::optional<FileIdentity> perf_map;
    Clock::time_point look_again_at;  // for the perf map
  };
  struct Process {
    Image now, earlier;
    std::optional<Clock::time_point> read_at;
    Clock::duration believed = {};
    size_t list_bytes = 0;
    uint64_t last_use = 0;
  };

  static Mapped* mapping_at(std::vector<Mapped>& mapped, uint64_t address);
  static size_t bytes_of(const Image& image);

  Process& process_of(pid_t pid);
  void refresh(pid_t pid, Process& process);
  void take_list(pid_t pid, Process& process, const ProcessImage& id, std::vector<Mapping> list);
  void look_for(pid_t pid, Process& process, uint64_t address);
  void drop_oldest_processes();

  void identify(pid_t pid, Mapped& mapped);
  TableCache::Code code_of(pid_t pid, Mapped& mapped, bool is_now);
  TableCache::Code load(pid_t pid, Mapped& mapped);
  TableCache::Code keep(const ElfFile& file, const FileIdentity& id);

  std::optional<UserSymbol> resolve_in(pid_t pid, Image& image, uint64_t address, bool is_now);
  std::optional<UserSymbol> find_in_perf_map(pid_t pid, Image& image, uint64_t address,
                                             bool is_now);
  void look_for_perf_map(pid_t pid, Image& image);
  void read_perf_map_of(pid_t pid, Image& image);
  void warn(const std::string& text);
  void warn_of_the_end();  // of reading

  std::string proc_;
  Clock::duration believed_;
  bool keeps_one_table_ = false;
  uint64_t uses_ = 0;
  std::map<pid_t, Process> processes_;
  size_t list_bytes_ = 0;  // of the lists of all processes
  TableCache cache_;
  // Of files that were seen, to know them again after a chmod, for example.
  std::map<FileIdentity, std::optional<uint64_t>> hashes_;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

}  // namespace flowtap
