#pragma once
// Arch: what differs between processors, in one table for each. The compiler takes the table of the
// machine it compiles for from its Target; code that deals with running processes and their files
// takes host_arch().
//
// A new processor is a file beside x86_64.cc, a declaration in processors.h and a line in arch.cc.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/probe_site.h"
#include "base/bytes.h"
#include "types/user_probe.h"

namespace flowtap {

struct Register {
  std::string_view name;  // the kernel's, in struct pt_regs
  int32_t offset = 0;     // there
  // The assembler's, for all 8 bytes and for the lower 4, 2 and 1. Empty: there is no such name.
  std::array<std::string_view, 4> parts;
};

// The lower `bytes` of a register.
struct RegisterPart {
  const Register* whole = nullptr;
  uint32_t bytes = 8;
};

// The bit of struct pt_regs that is `value` if user mode was interrupted.
struct UserModeBit {
  int32_t offset = 0;
  uint32_t mask = 1;
  bool value = true;
};

// What replaces an instruction to stop a program there.
struct Breakpoint {
  uint64_t code = 0;  // in the byte order of memory
  uint32_t size = 1;
  uint32_t advance =
      0;  // how far behind it the instruction pointer is when the program has stopped
};

// What .eh_frame means by its numbers; types/unwind.h describes the rules that are made of it.
struct UnwindRules {
  uint64_t frame_pointer = 0, stack_pointer = 0;  // DWARF numbers
  int64_t return_address = 0;                     // where a call leaves it, from the CFA
  // Registers that a signal interrupted, from the stack pointer of its handler's caller: places in
  // struct ucontext.
  int32_t signal_frame_pointer = 0, signal_stack_pointer = 0, signal_instruction = 0;
  // Linkers describe their tables of calls into libraries by this expression, in which one byte
  // differs: `plt_digit` is its place, and its value here that for 0.
  std::span<const uint8_t> plt_expression;
  size_t plt_digit = 0;
};

// What the operands of USDT probes need to know of the file they are in.
struct UsdtOperandContext {
  uint64_t probe_address = 0;
  std::function<std::optional<uint64_t>(std::string_view name)> symbol_address;
};

// Relocations for functions that the dynamic linker chooses; symbols/indirect_functions.h.
struct IndirectRelocations {
  uint32_t resolved = 0;     // the address is what the resolver returns
  uint32_t call_slot = 0;    // the address of a symbol, for calls through the linkage table
  uint32_t global_data = 0;  // the same, for other uses
};

struct Arch {
  std::string_view name;  // uname(2)'s
  uint16_t elf_machine = 0;

  // --- struct pt_regs, the context of kprobes, uprobes and perf events
  std::span<const Register> registers;
  std::span<const int32_t> arguments;  // offsets of those that functions take in registers
  int32_t stack_arguments = 0;         // the others, from the stack pointer when a function begins
  int32_t result = 0, instruction = 0, stack_pointer = 0, frame_pointer = 0;
  UserModeBit user_mode;

  // --- programs and their files
  std::span<const char* const> system_calls;          // by number; null where there is none
  std::span<const std::string_view> library_folders;  // those of this processor alone
  uint32_t linker_cache_flags = 0;                    // in /etc/ld.so.cache
  Breakpoint breakpoint;
  uint32_t watchpoints = 0;  // of the hardware
  UnwindRules unwind;
  IndirectRelocations indirect;
  uint32_t longest_instruction = 0;
  // Where in a function's code the instruction begins that the byte at `offset` is part of. Nothing
  // when that cannot be told. A uprobe elsewhere would change what the program does.
  std::optional<uint64_t> (*instruction_start)(Bytes code, uint64_t offset) = nullptr;
  // Why a uprobe must not be put on an instruction. Nothing when it does no harm.
  std::optional<ProbeSiteProblem> (*probe_site_problem)(const ProbeSite& site) = nullptr;
  // The argument string of a note: one entry for each operand, also for those that cannot be read.
  std::vector<UsdtArgument> (*usdt_arguments)(std::string_view text,
                                              const UsdtOperandContext& context) = nullptr;

  // By any name of the kernel's or the assembler's. Nothing for an unknown one.
  std::optional<RegisterPart> find_register(std::string_view register_name) const;
  // Place in struct pt_regs; the names of lower parts of 4 and 2 bytes mean the whole register.
  std::optional<int32_t> register_offset(std::string_view register_name) const;
  // All of them, for messages.
  std::string register_names() const;
};

// The processor that flowtap was built for.
const Arch& host_arch();
const Arch* find_arch(std::string_view name);  // null: there is no table for it

}  // namespace flowtap
