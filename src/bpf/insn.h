#pragma once
// One BPF instruction, as the kernel takes it, and what has to be patched in when it is loaded.

#include <cstdint>

namespace flowtap::bpf {

struct Insn {
  uint8_t code = 0;
  uint8_t dst = 0;  // 4 bits in the kernel's encoding
  uint8_t src = 0;
  int16_t off = 0;
  int32_t imm = 0;

  bool operator==(const Insn&) const = default;
};

}  // namespace flowtap::bpf
