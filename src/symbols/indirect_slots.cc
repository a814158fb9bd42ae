// Reads relocations; see indirect_slots.h. Entry points: of_library(), of_user().
//
// Sections may overlap: ten thousand of them may all be the same millions of relocations. So the
// limits are for a file, and the time is that of all files of others (base/interrupt.h).

#include "symbols/indirect_slots.h"

#include <elf.h>

#include <algorithm>
#include <functional>

#include "base/interrupt.h"

namespace flowtap {

namespace {

// Several times what the largest browsers have, and what any library has.
constexpr uint64_t kMostAtOnce = 1'000'000, kMostEntries = 4'000'000;
constexpr size_t kMostSlots = 10'000;
constexpr size_t kBetweenLooks = 4096;

template <typename T>
std::vector<T> table_of(const ElfFile& file, const ElfSection& section, uint64_t most) {
  uint64_t count = std::min(section.size / sizeof(T), most);
  Result<std::vector<char>> bytes = file.bytes(section.file_offset, count * sizeof(T));
  if (!bytes) return {};
  std::vector<T> table(count);
  std::copy(bytes->begin(), bytes->end(), reinterpret_cast<char*>(table.data()));
  return table;
}

}  // namespace

// One file, until a limit is reached.
class IndirectSlots::Reader {
 public:
  Reader(const IndirectSlots& wanted, const ElfFile& file) : wanted_(wanted), file_(file) {}

  // Visits the relocations of every section.
  void run(const std::function<void(const ElfSection&)>& begin,
           const std::function<void(const Elf64_Rela&)>& visit) {
    for (const ElfSection& section : file_.sections()) {
      if (section.type != SHT_RELA || !(section.flags & SHF_ALLOC)) continue;
      if (!is_over()) begin(section);
      if (is_over()) return;
      std::vector<Elf64_Rela> table =
          table_of<Elf64_Rela>(file_, section, std::min(kMostAtOnce, kMostEntries - visited_));
      visited_ += table.size() + 1;
      for (size_t i = 0; i < table.size(); i++) {
        if (i % kBetweenLooks == 0 && is_over()) return;
        visit(table[i]);
      }
    }
  }

  void take_symbols(const ElfSection& relocations) {
    symbols_.clear();
    names_.clear();
    const std::vector<ElfSection>& all = file_.sections();
    if (relocations.link >= all.size()) return;
    const ElfSection& symbols = all[relocations.link];
    if (symbols.type != SHT_DYNSYM || symbols.link >= all.size()) return;
    const ElfSection& names = all[symbols.link];
    Result<std::vector<char>> text = file_.bytes(names.file_offset, names.size);
    if (!text) return;
    names_ = std::move(*text);
    symbols_ = table_of<Elf64_Sym>(file_, symbols, kMostAtOnce);
    visited_ += symbols_.size() + names_.size() / sizeof(Elf64_Sym);
  }

  // No longer than one that matters, and one more byte.
  std::string_view name_of(uint64_t symbol) const {
    if (symbol >= symbols_.size() || symbols_[symbol].st_name >= names_.size()) return {};
    const char* begin = names_.data() + symbols_[symbol].st_name;
    size_t most = std::min(names_.size() - symbols_[symbol].st_name, wanted_.longest_name_ + 1);
    return {begin, ::strnlen(begin, most)};
  }

  void add(uint64_t address, uint64_t resolver) {
    if (slots.size() < kMostSlots) slots.push_back({address, resolver});
  }

  std::vector<IndirectSlot> slots;

 private:
  bool is_over() const {
    return visited_ >= kMostEntries || slots.size() >= kMostSlots || is_reading_over();
  }

  const IndirectSlots& wanted_;
  const ElfFile& file_;
  uint64_t visited_ = 0;  // relocations and symbols
  std::vector<Elf64_Sym> symbols_;
  std::vector<char> names_;
};

IndirectSlots::IndirectSlots(const std::vector<UserFunction>& resolvers,
                             const IndirectRelocations& kinds)
    : kinds_(kinds) {
  for (const UserFunction& one : resolvers) {
    resolvers_.insert(one.address);
    by_name_.emplace(one.name, one.address);
    longest_name_ = std::max(longest_name_, one.name.size());
  }
}

std::vector<IndirectSlot> IndirectSlots::of_library(const ElfFile& file) const {
  Reader reader(*this, file);
  reader.run([](const ElfSection&) {},
             [&](const Elf64_Rela& one) {
               auto resolver = static_cast<uint64_t>(one.r_addend);
               if (ELF64_R_TYPE(one.r_info) == kinds_.resolved && resolvers_.contains(resolver))
                 reader.add(one.r_offset, resolver);
             });
  return std::move(reader.slots);
}

std::vector<IndirectSlot> IndirectSlots::of_user(const ElfFile& file) const {
  Reader reader(*this, file);
  reader.run([&](const ElfSection& section) { reader.take_symbols(section); },
             [&](const Elf64_Rela& one) {
               auto type = static_cast<uint32_t>(ELF64_R_TYPE(one.r_info));
               if (type != kinds_.call_slot && type != kinds_.global_data) return;
               auto [first, end] = by_name_.equal_range(reader.name_of(ELF64_R_SYM(one.r_info)));
               for (size_t i = 0; first != end && i < kMostSlots; first++, i++)
                 reader.add(one.r_offset, first->second);
             });
  return std::move(reader.slots);
}

}  // namespace flowtap
