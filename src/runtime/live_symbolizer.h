#pragma once
// LiveSymbolizer: names from the running machine, for the writers.

#include <time.h>

#include <map>
#include <string>

#include "output/symbolizer.h"
#include "runtime/cgroup_paths.h"
#include "symbols/kallsyms.h"
#include "symbols/user_symbols.h"

namespace flowtap {

class LiveSymbolizer : public Symbolizer {
 public:
  struct Options {
    bool demangles = true;
    bool is_lazy = true;  // false: symbols are read when a process is first seen
    bool keeps_one_table = false;
    std::string passwords = "/etc/passwd";
  };
  LiveSymbolizer() : LiveSymbolizer(Options{}) {}
  explicit LiveSymbolizer(Options options);

  std::string demangle(std::string_view name) override { return demangled(std::string(name)); }
  std::vector<std::string> take_warnings() override { return users_.take_warnings(); }
  std::optional<Symbol> kernel_symbol(uint64_t address) override;
  std::optional<Symbol> user_symbol(uint32_t pid, uint64_t address) override;
  std::string user_name(uint64_t uid) override;
  std::string cgroup_path(uint64_t id, std::string_view filter) override;
  uint64_t unix_time(uint64_t ns, Clock clock) override;

  // Notes what a process has mapped, so that its addresses have names after its end.
  void remember(uint32_t pid) override;

 private:
  void read_passwords();
  const std::string& demangled(const std::string& name);

  Options options_;
  KernelSymbols kernel_;
  UserSymbols users_;
  CgroupPaths cgroups_;
  UserSymbol last_;  // what the views of the last answer point to
  std::map<std::string, std::string> demangled_;
  size_t demangled_bytes_ = 0;
  std::map<uint64_t, std::string> user_names_;
  bool has_passwords_ = false;
  void follow_steps(clockid_t clock, uint64_t stamp);
  uint64_t looked_at_ = 0;  // the stamp at which the clock was last compared
  // What to add to a stamp of each clock to get nanoseconds since 1970.
  int64_t from_boot_ = 0, from_monotonic_ = 0, from_tai_ = 0;
};

}  // namespace flowtap
