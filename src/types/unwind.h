#pragma once
// How user stacks are unwound without frame pointers: the bytes that flowtap makes of .eh_frame
// sections and that programs in the kernel read. dw_ustack is compiled to code that walks these
// tables (lower/unwinding.cc); runtime/unwind_tables.cc fills them.
//
// A row holds for the addresses from its own up to that of the next row:
//
//   | u32 address in the ELF file | u32 rule |
//   rule:  bits 0-3 kind, 4-11 where the frame pointer was saved, 12-31 offset, signed, in words of
//   8 bytes
//
// The canonical frame address (CFA) is the value of the stack pointer (sp) before the call; the
// return address lies just below it. The frame pointer (bp) was saved that many words below it; 0:
// it is still in its register. arch/arch.h says which registers these are.

#include <cstdint>

namespace flowtap {

enum class UnwindKind : uint32_t {
  None,      // nobody knows how to go on: no code, or a rule we do not understand
  End,       // the first function of a thread: there is no caller
  Sp,        // CFA = sp + offset
  Bp,        // CFA = bp + offset
  BpMemory,  // CFA = the word at bp + offset, bp = the word at bp: a realigned stack
  Plt,       // CFA = sp + 8, and 8 more when the address's last digit is at least `offset`
  Signal,    // sp points to the registers that a signal interrupted
};

inline constexpr uint32_t kUnwindBpShift = 4, kUnwindBpMask = 255, kUnwindOffsetShift = 12;
inline constexpr uint32_t kUnwindKindMask = 15;
inline constexpr uint32_t kMostUnwindBp = 15;   // words below the CFA; compilers need 10
inline constexpr uint32_t kUnwindBpLost = 255;  // where bp was saved: nobody knows
inline constexpr uint32_t kUnwindRowSize = 8;

struct UnwindRow {
  uint32_t address = 0;
  uint32_t rule = 0;
  bool operator==(const UnwindRow&) const = default;
};

// --- banks: arrays of rows, made when they are needed. A table may go on in the next bank.
inline constexpr uint32_t kUnwindBankRows = 1 << 16;
inline constexpr uint32_t kUnwindBankSteps = 16;  // of a search in one bank
inline constexpr uint32_t kUnwindBanks = 256;

// --- mappings: which rows hold for which addresses of a process; sorted, side by side
//   | u64 begin | u64 end | u64 add this to an address of the file | u32 row | u32 rows |
//   row: bank * kUnwindBankRows + first row in it
inline constexpr uint32_t kUnwindMappingSize = 32;
inline constexpr int32_t kUnwindEnd = 8, kUnwindBias = 16, kUnwindFirst = 24, kUnwindRows = 28;
inline constexpr uint32_t kUnwindMappings = 1 << 15;
inline constexpr uint32_t kUnwindMappingSteps = 10;  // of a search among those of one process
inline constexpr uint32_t kMostUnwindMappings = 1 << kUnwindMappingSteps;

// --- processes: a hash by process id
//   | u32 first mapping | u32 mappings | u64 start of the stack | u64 end of the code | u64 asked
//   at |
// By the two addresses, which are others after exec, it is seen that the list is of this program.
// No mappings: asked for and not yet there.
inline constexpr uint32_t kUnwindProcessSize = 32;
inline constexpr int32_t kUnwindMappingCount = 4, kUnwindStackStart = 8, kUnwindCodeEnd = 16,
                         kUnwindAskedAt = 24;
inline constexpr uint32_t kUnwindProcesses = 4096;

}  // namespace flowtap
