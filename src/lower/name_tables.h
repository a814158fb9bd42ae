#pragma once
// Names that strerror(), signal_name() and syscall_name() give, laid out for an array map.

#include <cstdint>
#include <string>

#include "arch/arch.h"
#include "builtins/builtins.h"

namespace flowtap {

inline constexpr uint32_t kNameSize = 64;

struct NameTable {
  std::string map_name;
  uint32_t entries = 0;  // numbers 0 .. entries-1; one more entry holds the name of all others
  std::string bytes;
};

NameTable name_table(Fn function, const Arch& arch);

}  // namespace flowtap
