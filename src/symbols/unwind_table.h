#pragma once
// The unwind table of a program or library: for each address of its code, how to find the caller.

#include <vector>

#include "arch/arch.h"
#include "base/bytes.h"
#include "symbols/elf_file.h"
#include "types/unwind.h"

namespace flowtap {

// Sorted by address, each address once, neighbours of different rules. What lies between two
// functions, and behind the last, has the rule None. Empty when there is no .eh_frame, or none
// that is for this machine.
Result<std::vector<UnwindRow>> read_unwind_table(const ElfFile& file);

// The same of the bytes of an .eh_frame section that is mapped at `address`.
Result<std::vector<UnwindRow>> parse_eh_frame(Bytes section, uint64_t address,
                                              const UnwindRules& arch);

}  // namespace flowtap
