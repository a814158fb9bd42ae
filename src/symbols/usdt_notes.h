#pragma once
// USDT probes: the places that the authors of a program marked for tracers.

#include <vector>

#include "base/result.h"
#include "symbols/elf_file.h"
#include "types/user_probe.h"

namespace flowtap {

// All probes of a file in the order of its notes; a probe that stands in several places is there
// several times. A file without any is no error.
Result<std::vector<UsdtProbe>> read_usdt_probes(const ElfFile& file);

}  // namespace flowtap
