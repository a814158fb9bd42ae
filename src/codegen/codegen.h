#pragma once
// Code generation: IR -> BPF instructions. Three steps, each a function of its own:
//   place_slots   slots get a stack offset or a place in the program's scratch memory
//   allocate      virtual registers get r1..r9, or are spilled to the stack
//   emit          instructions are chosen and jumps resolved

#include "base/result.h"
#include "bpf/image.h"
#include "ir/ir.h"

namespace flowtap::codegen {

// --- placing slots ----------------------------------------------------------------------------
struct Frame {
  // Per slot of the program: distance below the frame pointer, or offset in scratch memory.
  struct Home {
    bool is_stack = false;
    int32_t offset = 0;
  };
  std::vector<Home> homes;
  std::vector<uint32_t> stack_used;  // per function, in bytes
};

// Puts slots on the stack while `budget` bytes per function last and the rest into scratch
// memory; rewrites addresses accordingly (a scratch address becomes base register + offset).
Frame place_slots(ir::Program& program, uint32_t budget);

// --- registers --------------------------------------------------------------------------------
struct Allocation {
  std::vector<int8_t> physical;  // per virtual register: 1..9
};

// May insert loads and stores of spill slots, which extend frame.stack_used and program.slots.
Allocation allocate(ir::Program& program, size_t function, Frame& frame);

// --- limits of the verifier (limits.cc) ----------------------------------------------------------
Status check_limits(const Program& code);

// --- everything -------------------------------------------------------------------------------
inline constexpr uint32_t kMaxStack = 512;

// The program's instructions, relocations and subprograms; fails when they cannot fit the limits
// of the BPF machine. scratch_size receives the bytes of scratch memory it needs per CPU.
Result<Program> generate(ir::Program program, uint32_t& scratch_size);

}  // namespace flowtap::codegen
