// Builds and searches tables of functions. Ways in: from_elf(), from_perf_map(), find().
//
// Libraries give one function many names (write, __write, __libc_write, __GI___write), and a name
// is kept for each address only: the one a user would know. A just-in-time compiler uses addresses
// again, so in a perf map the last line about an address is the one that holds.

#include "symbols/symbol_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "base/interrupt.h"
#include "base/text.h"

namespace flowtap {

namespace {

struct Candidate {
  uint64_t address = 0;
  uint32_t size = 0;
  uint32_t name = 0;
  uint32_t rank = 0;  // of several at one address, the least is kept
};

}  // namespace

static constexpr size_t kMostPerfMapLines = 1'000'000, kLinesBetweenLooks = 4096;

static uint32_t size_of(uint64_t size) {
  return static_cast<uint32_t>(std::min<uint64_t>(size, std::numeric_limits<uint32_t>::max()));
}

// Exported names before local ones, plain ones before "__plain", then the shorter.
static uint32_t rank_of(const ElfSymbol& symbol) {
  size_t underscores = std::min(symbol.name.find_first_not_of('_'), symbol.name.size());
  // Every mangled name begins with an underscore.
  if (symbol.name.starts_with("_Z") || symbol.name.starts_with("_R")) underscores = 0;
  uint32_t is_local = symbol.binding == SymbolBinding::Local;
  return is_local << 24 | static_cast<uint32_t>(std::min<size_t>(underscores, 255)) << 16 |
         static_cast<uint32_t>(std::min<size_t>(symbol.name.size(), 0xffff));
}

static uint32_t add_name(std::string& names, std::string_view name) {
  uint32_t offset = static_cast<uint32_t>(names.size());
  names.append(name).push_back('\0');
  return offset;
}

// Sorts, and leaves one candidate for each address.
static void keep_best(std::vector<Candidate>& candidates) {
  auto key = [](const Candidate& c) { return std::tuple(c.address, c.rank, c.name); };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  auto same = [](const Candidate& a, const Candidate& b) { return a.address == b.address; };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
}

SymbolTable SymbolTable::from_elf(const ElfFile& file, Status* status) {
  std::vector<Candidate> candidates;
  std::string names;
  // A file that breaks off in the middle still gives the names before.
  Status visited = file.visit_all_symbols([&](const ElfSymbol& symbol) {
    if (symbol.kind != SymbolKind::Function) return;
    candidates.push_back({.address = symbol.address,
                          .size = size_of(symbol.size),
                          .name = add_name(names, symbol.name),
                          .rank = rank_of(symbol)});
  });
  if (status) *status = visited;
  keep_best(candidates);
  SymbolTable table;
  table.entries_.reserve(candidates.size());
  for (const Candidate& c : candidates) {
    uint32_t name = add_name(table.names_, names.c_str() + c.name);
    table.entries_.push_back({c.address, c.size, name});
  }
  table.names_.shrink_to_fit();
  return table;
}

static std::optional<uint64_t> take_hex(std::string_view& line) {
  line = trim(line);
  if (line.starts_with("0x")) line.remove_prefix(2);
  uint64_t value = 0;
  auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(stop - line.data()));
  return value;
}

Result<SymbolTable> SymbolTable::from_perf_map(std::string_view text) {
  SymbolTable table;
  std::vector<Candidate> candidates;
  for (size_t line_number = 0; !text.empty(); line_number++) {
    if (line_number >= kMostPerfMapLines)
      return Error{"it has more than " + std::to_string(kMostPerfMapLines) + " lines"};
    if (line_number % kLinesBetweenLooks == 0 && is_reading_over())
      return Error{why_reading_is_over()};
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::optional<uint64_t> address = take_hex(line);
    std::optional<uint64_t> size = address ? take_hex(line) : std::nullopt;
    std::string_view name = trim(line);
    if (end > kLongestElfName) table.has_long_lines_ = true;
    if (!size || name.empty() || end > kLongestElfName) continue;
    uint32_t lines_left = static_cast<uint32_t>(text.size());  // so that later ones rank first
    candidates.push_back({*address, size_of(*size), add_name(table.names_, name), lines_left});
  }
  keep_best(candidates);
  table.entries_.reserve(candidates.size());
  for (const Candidate& c : candidates) table.entries_.push_back({c.address, c.size, c.name});
  table.names_.shrink_to_fit();
  return table;
}

std::optional<FoundSymbol> SymbolTable::find(uint64_t address) const {
  // Functions may lie inside others (entry points written in assembler), so that the nearest one
  // before may have ended already while one further back goes on.
  static constexpr int kSteps = 4;
  auto entry = std::upper_bound(entries_.begin(), entries_.end(), address,
                                [](uint64_t wanted, const Entry& e) { return wanted < e.address; });
  for (int step = 0; step < kSteps && entry != entries_.begin(); step++) {
    --entry;
    uint64_t offset = address - entry->address;
    bool has_it = offset < entry->size || (entry->size == 0 && step == 0);
    if (has_it) return FoundSymbol{names_.c_str() + entry->name, offset};
  }
  return std::nullopt;
}

}  // namespace flowtap
