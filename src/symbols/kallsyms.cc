// Reads /proc/kallsyms, the kernel's own symbol table:
//
//   ffffffff81000000 T _stext
//   ffffffffc0201000 t e1000_probe<tab>[e1000]
//
// Ways in: KernelSymbols::find() and address_of(). The text is over 5 MB, so it is read in pieces
// and only 12 bytes and the name are kept of each line. Addresses are found by binary search. For
// names there is no index: they stand in one block of memory, and searching all 4 MB of it takes
// less time than sorting it once would, for the few names that a script asks for.

#include "symbols/kallsyms.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/fd.h"
#include "base/text.h"

namespace flowtap {

// Memory that is reserved but never touched costs nothing; growing step by step would hold the
// old and the new copy at once.
static constexpr size_t kReservedNames = 12 << 20;
static constexpr size_t kReservedEntries = 400'000;

// Symbols carry no size. Beyond this distance an address lies in the gap between the kernel's
// image and its modules, not in the last symbol before the gap.
static constexpr uint64_t kLongestSymbol = 16 << 20;

// Per-CPU variables of kernels before 6.15 are listed by their offset in the per-CPU area, from 0.
// Kernel addresses have the top bit set on every 64-bit machine.
static bool is_kernel_address(uint64_t address) { return address >> 63; }

std::optional<KernelSymbol> KernelSymbols::find(uint64_t address) {
  read_once();
  if (is_hidden_ || !is_kernel_address(address)) return std::nullopt;
  auto after = std::upper_bound(
      entries_.begin(), entries_.end(), address,
      [](uint64_t wanted, const Entry& entry) { return wanted < entry.address(); });
  if (after == entries_.begin()) return std::nullopt;
  uint64_t start = std::prev(after)->address();
  if (!is_kernel_address(start) || address - start > kLongestSymbol) return std::nullopt;
  // Of several names for one address take the first, as the kernel does in its own stack traces.
  auto first = std::lower_bound(
      entries_.begin(), after, start,
      [](const Entry& entry, uint64_t wanted) { return entry.address() < wanted; });
  KernelSymbol symbol = symbol_of(*first);
  symbol.offset = address - start;
  return symbol;
}

// The two ways a name can end in names_ are NUL and tab.
static size_t find_name(std::string_view names, std::string_view wanted, std::string_view module) {
  std::string needle = std::string(1, '\0').append(wanted);
  if (!module.empty()) needle.append("\t").append(module).append(1, '\0');
  for (size_t at = names.find(needle); at != names.npos; at = names.find(needle, at + 1)) {
    size_t end = at + needle.size();
    if (!module.empty() || names[end] == '\0' || names[end] == '\t') return at + 1;
  }
  return names.npos;
}

std::vector<std::vector<uint64_t>> KernelSymbols::addresses_of(
    const std::vector<std::string>& names) {
  std::vector<std::vector<uint64_t>> addresses(names.size());
  read_once();
  if (is_hidden_) return addresses;
  std::unordered_multimap<std::string_view, size_t> wanted;
  for (size_t i = 0; i < names.size(); i++) wanted.emplace(names[i], i);
  for (const Entry& entry : entries_) {
    KernelSymbol symbol = symbol_of(entry);
    std::string name(symbol.name);
    if (!symbol.module.empty()) name.append(" [").append(symbol.module).append("]");
    auto [first, last] = wanted.equal_range(name);
    for (auto found = first; found != last; found++)
      addresses[found->second].push_back(entry.address());
  }
  return addresses;
}

std::optional<uint64_t> KernelSymbols::address_of(std::string_view name) {
  read_once();
  if (is_hidden_) return std::nullopt;
  std::string_view module;
  if (size_t bracket = name.find('['); bracket != name.npos && name.back() == ']') {
    module = name.substr(bracket + 1, name.size() - bracket - 2);
    name = trim(name.substr(0, bracket));
  }
  if (name.empty()) return std::nullopt;
  size_t offset = find_name(names_, name, module);
  if (offset == std::string::npos) return std::nullopt;
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& candidate) { return candidate.name == offset; });
  return entry->address();
}

bool KernelSymbols::is_hidden() {
  read_once();
  return is_hidden_;
}

size_t KernelSymbols::size() {
  read_once();
  return entries_.size();
}

KernelSymbol KernelSymbols::symbol_of(const Entry& entry) const {
  std::string_view text(names_.c_str() + entry.name);
  size_t tab = text.find('\t');
  if (tab == text.npos) return {.name = text};
  return {.name = text.substr(0, tab), .module = text.substr(tab + 1)};
}

// "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME<tab>[MODULE]". Other lines are passed over.
void KernelSymbols::add_line(std::string_view line) {
  uint64_t address = 0;
  auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
  size_t digits = static_cast<size_t>(stop - line.data());
  if (error != std::errc() || line.size() < digits + 4 || line[digits] != ' ') return;
  std::string_view name = line.substr(digits + 3);
  std::string_view module;
  if (size_t tab = name.find('\t'); tab != name.npos) {
    module = trim(name.substr(tab + 1));
    name = name.substr(0, tab);
  }
  if (name.empty()) return;
  entries_.push_back({static_cast<uint32_t>(address >> 32), static_cast<uint32_t>(address),
                      static_cast<uint32_t>(names_.size())});
  names_.append(name);
  if (module.size() > 2) names_.append("\t").append(module.substr(1, module.size() - 2));
  names_.push_back('\0');
}

void KernelSymbols::read_once() {
  if (is_read_) return;
  is_read_ = true;
  Fd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return;
  names_.reserve(kReservedNames);
  entries_.reserve(kReservedEntries);
  names_.push_back('\0');
  std::string pending;  // the beginning of a line whose end is not read yet
  char chunk[65536];
  ssize_t n;
  while ((n = ::read(fd.get(), chunk, sizeof chunk)) > 0) {
    pending.append(chunk, static_cast<size_t>(n));
    size_t begin = 0;
    for (size_t end; (end = pending.find('\n', begin)) != pending.npos; begin = end + 1)
      add_line(std::string_view(pending).substr(begin, end - begin));
    pending.erase(0, begin);
  }
  add_line(pending);
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.address() != b.address() ? a.address() < b.address() : a.name < b.name;
  });
  is_hidden_ = !entries_.empty() && entries_.back().address() == 0;
}

}  // namespace flowtap
