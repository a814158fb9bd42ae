#pragma once
// UserSymbols: names for addresses in user processes, as in stacks and usym().

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbols/process_maps.h"
#include "symbols/symbol_table.h"

namespace flowtap {

struct UserSymbol {
  std::string name;     // mangled; empty when only the module is known
  uint64_t offset = 0;  // from the symbol, or without one from the module's first byte
  std::string module;   // the path as the process sees it, "[vdso]", "[jit]"...
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

  // Nothing for an address outside of every mapping, or a process that is not known.
  std::optional<UserSymbol> resolve(pid_t pid, uint64_t address);

  // Notes now what the process has mapped, so that its addresses have names after its end.
  void remember(pid_t pid);
  // Reads the symbols of all that the process has mapped: its files may vanish with it.
  void read_tables(pid_t pid);
  size_t tables() const { return by_file_.size(); }

 private:
  struct Binary {
    SymbolTable table;
    std::vector<ElfSegment> segments;
    std::optional<uint64_t> address_of(uint64_t file_offset) const;
  };
  struct PerfMap {
    SymbolTable table;
    int64_t file_size = -1;  // -1: not looked for yet
    Clock::time_point looked_at;
  };
  struct Process {
    std::vector<Mapping> mappings;
    std::optional<Clock::time_point> read_at;
    uint64_t last_use = 0;
    std::unique_ptr<PerfMap> perf_map;
  };
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode

  Process& process_of(pid_t pid);
  void refresh(pid_t pid, Process& process);
  const Mapping* find_mapping(pid_t pid, Process& process, uint64_t address);
  void drop_oldest_process();

  std::shared_ptr<const Binary> binary_of(pid_t pid, const Mapping& mapping);
  std::shared_ptr<const Binary> load_binary(pid_t pid, const Mapping& mapping);
  std::shared_ptr<const Binary> keep(const ElfFile& file);

  std::optional<UserSymbol> find_in_perf_map(pid_t pid, Process& process, uint64_t address);
  void read_perf_map(pid_t pid, PerfMap& map);

  std::string proc_;
  Clock::duration believed_;
  bool keeps_one_table_ = false;
  uint64_t uses_ = 0;
  std::map<pid_t, Process> processes_;
  std::map<FileId, std::shared_ptr<const Binary>> by_file_;  // null: not an ELF file
  std::map<std::string, std::shared_ptr<const Binary>> by_build_id_;
};

}  // namespace flowtap
