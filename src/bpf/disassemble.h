#pragma once
// BPF instructions as text, in the notation of the kernel's own verifier log.

#include <string>

#include "bpf/image.h"

namespace flowtap::bpf {

std::string disassemble(const Insn& insn, int32_t next_imm = 0);
// A whole program, numbered, with map names in place of descriptors.
std::string disassemble(const Program& program, const Image& image);

}  // namespace flowtap::bpf
