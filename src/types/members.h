#pragma once
// What BTF and DWARF have in common when members of structs become fields.

#include "types/type.h"

namespace flowtap {

// Bytes that the language has no value for, such as a float.
Type opaque_type(uint32_t size);

// Says where the integer of a bit field, whose type and width are set, is to be loaded: at its
// natural place, or for packed structs where it straddles that, from its first byte, as a wider
// integer if it must be.
void place_bits(uint32_t bit_offset, Field& field);

}  // namespace flowtap
