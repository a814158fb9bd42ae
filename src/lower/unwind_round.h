#pragma once
// One round of the loop that unwinds a user stack: from a frame to its caller.

#include "arch/arch.h"
#include "bpf/image.h"
#include "ir/builder.h"
#include "types/unwind.h"

namespace flowtap {

// What rounds hand on, and where. Not on the stack: the verifier would look at a round for every
// set of values that it can tell apart there.
namespace unwind_state {
inline constexpr int32_t kIp = 0, kSp = 8, kBp = 16;
inline constexpr int32_t kFrames = 24;  // found so far
inline constexpr int32_t kBack = 32;    // 1 when `ip` is a return address: the call is before it
inline constexpr int32_t kFirst = 40;   // mappings of the process: the first, and how many
inline constexpr int32_t kMappings = 48;
inline constexpr int32_t kOutcome = 56;
inline constexpr int32_t kKey = 64;    // of a lookup
inline constexpr int32_t kPlace = 72;  // of the last frame's mapping, among those of the process
inline constexpr int32_t kWords = 80;  // read from the process
inline constexpr uint32_t kMostWords = 16;
inline constexpr uint32_t kStateSize = kWords + kMostWords * 8;
static_assert(kMostUnwindBp < kMostWords);
}  // namespace unwind_state

enum class UnwindOutcome : int64_t { Ended, Cut, Unmapped };

struct UnwindRound {
  const UnwindMaps& maps;
  const UnwindRules& rules;
  ir::Address state;   // memory that all functions of the program share
  ir::Address frames;  // likewise; one word per frame
  uint32_t limit = 0;
};

// Adds it to the program as a function for bpf_loop, and gives its number.
int32_t write_unwind_round(ir::Program& program, const ir::Builder& parent,
                           const UnwindRound& round);

}  // namespace flowtap
