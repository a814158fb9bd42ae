#pragma once
// The instructions of .eh_frame that say, address by address, where a function's caller is found.

#include <functional>

#include "arch/arch.h"
#include "base/bytes.h"
#include "types/unwind.h"

namespace flowtap {

// Reads numbers from bytes that may end too early; then everything is 0 and `failed` is set.
struct ByteReader {
  Bytes bytes;
  size_t at = 0;
  bool failed = false;

  bool is_at_end() const { return failed || at >= bytes.size(); }
  uint64_t fixed(size_t size);  // 1, 2, 4 or 8 bytes
  int64_t fixed_signed(size_t size);
  uint64_t uleb();
  int64_t sleb();
  Bytes block(uint64_t size);
};

// What the description of a function has in common with others (CIE).
struct CfaFrame {
  const UnwindRules* arch = nullptr;
  uint64_t code_step = 1;
  int64_t data_step = 1;
  uint64_t return_register = 0;
  bool is_signal = false;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  Bytes initial;  // instructions that every function begins with
};

struct CfaRange {
  uint64_t begin = 0, end = 0;
};

// Calls `visit` with the first address and the rule of each part of the range, in order. Where an
// instruction is not understood, the rest of the range has the rule None.
void run_cfa_program(const CfaFrame& frame, CfaRange range, Bytes program,
                     const std::function<void(uint64_t address, uint32_t rule)>& visit);

}  // namespace flowtap
