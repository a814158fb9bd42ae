#pragma once
// What the output must ask of the machine to turn numbers into names. The runtime answers from
// kallsyms, ELF files, the password file and so on; tests answer from a table.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/layout.h"

namespace flowtap {

// The views stay good until the next question.
struct Symbol {
  std::string_view name;
  uint64_t offset = 0;      // of the address from the symbol's start
  std::string_view module;  // kernel module or file of the mapping; may be empty
};

class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  // Addresses of this process will be asked for, perhaps after its end.
  virtual void remember(uint32_t pid) { (void)pid; }
  // What was left out since the last question, as messages for the user.
  virtual std::vector<std::string> take_warnings() { return {}; }
  // A symbol as people write it.
  virtual std::string demangle(std::string_view name) { return std::string(name); }
  virtual std::optional<Symbol> kernel_symbol(uint64_t address) = 0;
  virtual std::optional<Symbol> user_symbol(uint32_t pid, uint64_t address) = 0;
  // Empty when there is no such user.
  virtual std::string user_name(uint64_t uid) = 0;
  // "unified:/a,blkio:/b", only hierarchies that match the filter; an empty filter matches all.
  virtual std::string cgroup_path(uint64_t id, std::string_view filter) = 0;
  // A stamp of the given clock as nanoseconds since 1970.
  virtual uint64_t unix_time(uint64_t ns, Clock clock) = 0;
};

// All that formatting needs besides a type and bytes.
struct ValueContext {
  Symbolizer& symbolizer;
  std::span<const std::string> strings;  // Image::strings
  std::string_view cut_trailer = "..";   // goes after a string that filled its storage
  bool is_terminal = false;  // traced text is made visible (escape.h); the script's own is not

  // Indexes come from records; one that is out of range finds nothing.
  std::string_view string_at(uint64_t index) const {
    return index < strings.size() ? std::string_view(strings[index]) : std::string_view();
  }
};

}  // namespace flowtap
