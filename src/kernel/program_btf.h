#pragma once
// The type information that the verifier wants to see with a program of several functions.

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

struct FunctionInfo {  // struct bpf_func_info
  uint32_t insn = 0;
  uint32_t type = 0;
};

struct ProgramBtf {
  std::vector<std::byte> bytes;         // for BPF_BTF_LOAD
  std::vector<FunctionInfo> functions;  // for BPF_PROG_LOAD, one per subprogram
};

ProgramBtf encode_program_btf(const Program& program);

}  // namespace flowtap
