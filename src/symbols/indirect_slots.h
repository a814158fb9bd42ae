#pragma once
// IndirectSlots: where in memory the dynamic linker writes the addresses of functions that it
// chooses (STT_GNU_IFUNC), by the relocations of a file. Any process may have any file mapped, so
// that what a file says is taken within limits.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "symbols/elf_file.h"
#include "types/user_probe.h"

namespace flowtap {

struct IndirectSlot {
  uint64_t address = 0;   // where it is, as the file counts
  uint64_t resolver = 0;  // the function that chooses, as its library counts
};

class IndirectSlots {
 public:
  IndirectSlots(const std::vector<UserFunction>& resolvers, const IndirectRelocations& kinds);

  // Of the library that has the functions.
  std::vector<IndirectSlot> of_library(const ElfFile& file) const;
  // Of a file that may call them.
  std::vector<IndirectSlot> of_user(const ElfFile& file) const;

 private:
  class Reader;

  const IndirectRelocations& kinds_;
  std::set<uint64_t> resolvers_;
  std::multimap<std::string, uint64_t, std::less<>> by_name_;
  size_t longest_name_ = 0;
};

}  // namespace flowtap
