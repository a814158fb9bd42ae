// Members of structs; see members.h.

#include "types/members.h"

#include <algorithm>

namespace flowtap {

Type opaque_type(uint32_t size) {
  return size % 8 == 0 ? array_type(int_type(8, false), size / 8)
                       : array_type(int_type(1, false), size);
}

static bool fits(uint32_t bit_offset, const Field& field) {
  return bit_offset + field.bit_size <= field.type->size * 8;
}

void place_bits(uint32_t bit_offset, Field& field) {
  uint32_t unit = std::max(1u, field.type->size) * 8;
  field.offset = bit_offset / unit * (unit / 8);
  field.bit_offset = static_cast<uint8_t>(bit_offset % unit);
  if (fits(field.bit_offset, field)) return;
  field.offset = bit_offset / 8;
  field.bit_offset = bit_offset % 8;
  if (!fits(field.bit_offset, field)) field.type = int_type(8, field.type->is_signed);
}

}  // namespace flowtap
