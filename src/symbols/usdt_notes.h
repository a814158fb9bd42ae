#pragma once
// USDT probes: the places that the authors of a program marked for tracers.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/elf_file.h"
#include "types/user_probe.h"

namespace flowtap {

// All probes of a file in the order of its notes; a probe that stands in several places is there
// several times. A file without any is no error.
Result<std::vector<UsdtProbe>> read_usdt_probes(const ElfFile& file);

// What the operand "sym(%rip)" needs to know.
struct UsdtOperandContext {
  uint64_t probe_address = 0;
  std::function<std::optional<uint64_t>(std::string_view name)> symbol_address;
};

// "-4@8(%rbp) 8@%rax": the argument string of a note, for x86.
std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text,
                                               const UsdtOperandContext& context);

}  // namespace flowtap
