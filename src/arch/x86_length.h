#pragma once
// Where x86-64 instructions begin. A breakpoint inside an instruction would change what a program
// does, so places that a script gives as offsets are checked.

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace flowtap {

// Bytes of the instruction at the start of `code`; nothing for what is no instruction, or is cut
// off.
std::optional<uint32_t> x86_instruction_length(Bytes code);

// Where in a function's code the instruction begins that the byte at `offset` is part of. Nothing
// when that cannot be told, since something before it is no instruction.
std::optional<uint64_t> x86_instruction_start(Bytes code, uint64_t offset);

}  // namespace flowtap
