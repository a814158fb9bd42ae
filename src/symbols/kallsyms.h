#pragma once
// KernelSymbols: names for kernel addresses and addresses for kernel names, from /proc/kallsyms.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

struct KernelSymbol {
  std::string_view name;
  std::string_view module;  // empty for the kernel proper; "bpf" for BPF programs
  uint64_t offset = 0;      // of the address asked for, from the start of the symbol
};

// Nothing is read before the first question. The views it hands out live as long as it does.
class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}

  // The symbol that `address` lies in.
  std::optional<KernelSymbol> find(uint64_t address);
  // `name` may be "name" or "name [module]", as /proc/kallsyms and the tracers write it.
  std::optional<uint64_t> address_of(std::string_view name);

  // For many names in one pass: the addresses of all functions that have the name, ascending. A
  // name without a module is one of the kernel proper.
  std::vector<std::vector<uint64_t>> addresses_of(const std::vector<std::string>& names);

  // The kernel showed no addresses: kernel.kptr_restrict forbids it, or we are not root.
  bool is_hidden();
  size_t size();

 private:
  // 12 bytes each, not 16: a large kernel has 200 000 of them.
  struct Entry {
    uint32_t address_high, address_low;
    uint32_t name;  // offset in names_
    uint64_t address() const { return uint64_t{address_high} << 32 | address_low; }
  };

  void read_once();
  void add_line(std::string_view line);
  KernelSymbol symbol_of(const Entry& entry) const;

  std::string path_;
  bool is_read_ = false;
  bool is_hidden_ = false;
  std::vector<Entry> entries_;  // by address; symbols of one address in the file's order
  std::string names_;           // "\0name\0name\tmodule\0..."
};

}  // namespace flowtap
