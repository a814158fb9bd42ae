#pragma once
// What compilers note about a program for debuggers (DWARF): the code that source lines became.
// Parameters and types are in dwarf_types.h.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/user_probe.h"

namespace flowtap {

// ELF virtual addresses where statements of that line begin, sorted; never an empty list.
Result<std::vector<uint64_t>> find_source_line(const std::string& path, const SourcePlace& wanted);

}  // namespace flowtap
