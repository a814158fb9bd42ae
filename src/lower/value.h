#pragma once
// What expressions become: values, and places in memory that have not been read yet.

#include "ir/builder.h"
#include "types/type.h"

namespace flowtap {

// A value: scalars in an operand (64 bits, extended by the sign of their type), everything else
// in memory that the program may touch directly.
struct Value {
  Type type;
  ir::Operand operand;
  ir::Address address;
};

// Memory of a map's value that an event changes. Other CPUs change a shared one too.
struct Lane {
  ir::Address address;
  bool is_shared = false;
};

// Memory that an expression denotes but that has not been read yet.
struct Location {
  Type type;
  AddressSpace space = AddressSpace::Kernel;
  ir::Address address;  // base is a register
  uint8_t bit_offset = 0;
  uint8_t bit_size = 0;
  bool is_foreign = false;  // C's, or the kernel's: anything may follow the NUL of a char array
  Type base = nullptr;      // the struct at `address` less its offset, where that is known
};

}  // namespace flowtap
