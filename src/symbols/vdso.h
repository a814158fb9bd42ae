#pragma once
// The small library that the kernel maps into every process, without a file.

#include "base/result.h"
#include "symbols/elf_file.h"

namespace flowtap {

inline constexpr const char* kVdso = "[vdso]";  // its name in /proc/PID/maps

// A copy of our own, which is the same as everybody's.
Result<ElfFile> open_vdso();

}  // namespace flowtap
