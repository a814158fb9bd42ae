// x86-64, as the kernel and the System V ABI have it.

#include <elf.h>

#include "arch/processors.h"
#include "arch/x86_length.h"
#include "arch/x86_operands.h"
#include "arch/x86_probe_site.h"
#include "syscall_names.h"

namespace flowtap {
namespace {

enum Place : int32_t {
  kBp = 32,
  kR9 = 64,
  kR8 = 72,
  kAx = 80,
  kCx = 88,
  kDx = 96,
  kSi = 104,
  kDi = 112,
  kIp = 128,
  kCs = 136,
  kSp = 152,
};

constexpr Register kRegisters[] = {
    {"r15", 0, {"r15", "r15d", "r15w", "r15b"}},
    {"r14", 8, {"r14", "r14d", "r14w", "r14b"}},
    {"r13", 16, {"r13", "r13d", "r13w", "r13b"}},
    {"r12", 24, {"r12", "r12d", "r12w", "r12b"}},
    {"bp", kBp, {"rbp", "ebp", "bp", "bpl"}},
    {"bx", 40, {"rbx", "ebx", "bx", "bl"}},
    {"r11", 48, {"r11", "r11d", "r11w", "r11b"}},
    {"r10", 56, {"r10", "r10d", "r10w", "r10b"}},
    {"r9", kR9, {"r9", "r9d", "r9w", "r9b"}},
    {"r8", kR8, {"r8", "r8d", "r8w", "r8b"}},
    {"ax", kAx, {"rax", "eax", "ax", "al"}},
    {"cx", kCx, {"rcx", "ecx", "cx", "cl"}},
    {"dx", kDx, {"rdx", "edx", "dx", "dl"}},
    {"si", kSi, {"rsi", "esi", "si", "sil"}},
    {"di", kDi, {"rdi", "edi", "di", "dil"}},
    {"orig_ax", 120, {}},
    {"ip", kIp, {"rip", "eip", "ip", ""}},
    {"cs", kCs, {}},
    {"flags", 144, {}},
    {"sp", kSp, {"rsp", "esp", "sp", "spl"}},
    {"ss", 160, {}},
};

constexpr int32_t kArguments[] = {kDi, kSi, kDx, kCx, kR8, kR9};

constexpr std::string_view kLibraryFolders[] = {"/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu",
                                                "/usr/lib/x86_64-linux-gnu"};

// rsp + 8 + ((rip & 15 >= N) << 3): entries push one word in the middle.
constexpr uint8_t kPltExpression[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};

}  // namespace

constinit const Arch kX86_64{
    .name = "x86_64",
    .elf_machine = EM_X86_64,
    .registers = kRegisters,
    .arguments = kArguments,
    .stack_arguments = 8,  // above the return address
    .result = kAx,
    .instruction = kIp,
    .stack_pointer = kSp,
    .frame_pointer = kBp,
    .user_mode = {.offset = kCs, .mask = 1, .value = true},  // the privilege level is 0 or 3
    .system_calls = kSyscallNames,
    .library_folders = kLibraryFolders,
    .linker_cache_flags = 0x0303,
    .breakpoint = {.code = 0xcc, .size = 1, .advance = 1},
    .watchpoints = 4,
    .unwind = {.frame_pointer = 6,
               .stack_pointer = 7,
               .return_address = -8,
               .signal_frame_pointer = 120,
               .signal_stack_pointer = 160,
               .signal_instruction = 168,
               .plt_expression = kPltExpression,
               .plt_digit = 6},
    .indirect = {.resolved = R_X86_64_IRELATIVE,
                 .call_slot = R_X86_64_JUMP_SLOT,
                 .global_data = R_X86_64_GLOB_DAT},
    .longest_instruction = 15,
    .instruction_start = x86_instruction_start,
    .probe_site_problem = x86_probe_site_problem,
    .usdt_arguments = x86_usdt_arguments,
};

}  // namespace flowtap
