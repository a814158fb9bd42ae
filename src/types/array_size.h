#pragma once
// How large an array may be. Sizes are counted in 32 bits, and the length of an array may be
// anybody's: that of a script, of a damaged format.

#include <cstdint>

#include "types/type.h"

namespace flowtap {

// What the verifier takes for one read.
inline constexpr uint64_t kMaxTypeSize = (1u << 29) - 1;

// Whether an array of that many fits.
inline bool can_repeat(const Type& element, uint64_t count) {
  constexpr uint64_t kMostEmpty = 4096;  // nothing else bounds how often something empty is printed
  return count <= (element->size ? kMaxTypeSize / element->size : kMostEmpty);
}

}  // namespace flowtap
