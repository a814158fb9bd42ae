#pragma once
// What the kernel's verifier finds at an offset of a struct when a program reads it through a typed
// pointer. It follows the members in its own way: of a union it knows only the first member that
// reaches the offset, and it takes no part of a pointer.

#include "types/btf.h"

namespace flowtap {

enum class Walk : uint8_t {
  Refused,
  Number,
  Pointer,  // the result is a typed pointer to the verifier
};

Walk walk(const Btf& btf, uint32_t struct_id, uint32_t offset, uint32_t size);

}  // namespace flowtap
