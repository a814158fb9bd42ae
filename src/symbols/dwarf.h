#pragma once
// What compilers note about a program for debuggers (DWARF): parameters of functions, and the code
// that source lines became. It is in the file itself, or in the separate file of its debug package.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/type.h"
#include "types/user_probe.h"

namespace flowtap {

// The parameters of the function that begins at an ELF virtual address, as far as their places are
// known. The offset of a field is 8 * the number of the argN that holds it.
Result<std::vector<Field>> read_parameters(const std::string& path, uint64_t address);

// ELF virtual addresses where statements of that line begin, sorted; never an empty list.
Result<std::vector<uint64_t>> find_source_line(const std::string& path, const SourcePlace& wanted);

}  // namespace flowtap
