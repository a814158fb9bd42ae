#pragma once
// What a probe in a user program may hang on: a function, or a USDT probe with its arguments.
// The readers of ELF files fill these in; the compiler and the attacher only read them.

#include <cstdint>
#include <string>
#include <vector>

namespace flowtap {

struct UserFunction {
  std::string name;      // mangled
  uint64_t address = 0;  // ELF virtual address
  uint64_t file_offset = 0;
  uint64_t size = 0;
  bool is_resolver = false;  // it returns the function of this name (STT_GNU_IFUNC)
};

struct SourcePlace {
  std::string file;  // a path, or the end of one
  int64_t line = 0;
  int64_t column = 0;  // 0: any
};

// One argument of a USDT probe, from the note's assembler operand, e.g. "-4@8(%rbp)".
// A base that is the instruction pointer ("rip") is the probe's own address: a global variable is
// written relative to it. A Register whose base is no general register ("xmm0") is an operand
// nobody can read: the probe works, but a script that uses the argument must be refused.
struct UsdtArgument {
  enum class Where : uint8_t { Constant, Register, Memory } where = Where::Constant;
  uint32_t bytes = 8;
  bool is_signed = false;
  int64_t constant = 0;     // or displacement
  std::string base, index;  // registers without '%': "rbp"; in Memory either may be empty
  uint32_t scale = 1;

  bool operator==(const UsdtArgument&) const = default;
};

struct UsdtProbe {
  std::string provider, name;
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t semaphore_offset = 0;  // in the file; 0 for none
  std::vector<UsdtArgument> args;
};

}  // namespace flowtap
