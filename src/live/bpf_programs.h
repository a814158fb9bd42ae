#pragma once
// The BPF programs that are loaded, by whomever.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace flowtap {

struct BpfProgram {
  uint32_t id = 0;
  std::string name;  // cut to 15 characters
  bool is_tracing = false;
  uint32_t btf = 0;                 // id of its BTF; 0: it has none
  std::vector<uint32_t> functions;  // their ids in that BTF, the program itself first
};

Result<std::vector<BpfProgram>> list_bpf_programs();
Result<std::vector<std::byte>> read_loaded_btf(uint32_t id);

}  // namespace flowtap
