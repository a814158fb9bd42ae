#pragma once
// What stands behind functions that the dynamic linker chooses (STT_GNU_IFUNC). The symbol `strlen`
// names a resolver, which is called once and returns the implementation for this processor. Which
// one that was is seen in the processes that use the library: the linker has written it to their
// tables of addresses. Nothing is executed to find out.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "symbols/elf_file.h"
#include "types/user_probe.h"

namespace flowtap {

// Addresses of implementations, by that of their resolver; all in the library's own counting. Of
// all processes that have the library mapped, or of one.
std::map<uint64_t, std::set<uint64_t>> find_implementations(
    const ElfFile& library, const std::vector<UserFunction>& resolvers,
    const IndirectRelocations& kinds, std::optional<pid_t> only, const std::string& proc = "/proc");

}  // namespace flowtap
