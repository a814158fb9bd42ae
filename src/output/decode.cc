// Decoding of values as drawn in types/layout.h. What a length or count says is never trusted
// beyond the storage it stands in: records come from a ring buffer others may share.

#include "output/decode.h"

#include <algorithm>
#include <cstring>

#include "types/layout.h"

namespace flowtap {

DecodedString decode_string(Bytes bytes, uint32_t size) {
  const char* text = reinterpret_cast<const char*>(bytes.data());
  size_t available = std::min<size_t>(size, bytes.size());
  size_t length = available == 0 ? 0 : strnlen(text, available);
  return {std::string_view(text, length), available > 0 && length == available};
}

Bytes decode_buffer(const Type& type, Bytes bytes) {
  uint32_t length = load<uint32_t>(bytes);
  uint32_t room = type->size - kBufferHeader;
  return bytes.subspan(kBufferHeader, std::min(length, room));
}

std::string_view enumerator_name(const Type& type, int64_t value) {
  if (!type->enumerators) return {};
  for (const Enumerator& enumerator : *type->enumerators)
    if (enumerator.value == value) return enumerator.name;
  return {};
}

bool is_char_array(const Type& type) {
  if (!is(type, Kind::Array) || !is(type->element, Kind::Int)) return false;
  return type->element->size == 1 && type->element->is_signed;
}

std::optional<Scalar> packed_field(const Field& field, Bytes parent) {
  if (field.is_data_loc) return Scalar{load<uint32_t>(parent, field.offset), false};
  if (field.bit_size == 0) return std::nullopt;
  Bytes bytes = field_bytes(field, parent);
  uint64_t raw = 0;
  std::memcpy(&raw, bytes.data(), std::min<size_t>(8, bytes.size()));
  raw >>= field.bit_offset;
  // A packed struct may put a wide field across nine bytes.
  if (field.bit_offset + field.bit_size > 64)
    raw |= static_cast<uint64_t>(load<uint8_t>(bytes, 8)) << (64 - field.bit_offset);

  int unused = 64 - std::min<int>(64, field.bit_size);
  bool is_signed = field.type->is_signed;
  raw <<= unused;
  return Scalar{
      is_signed ? static_cast<uint64_t>(static_cast<int64_t>(raw) >> unused) : raw >> unused,
      is_signed};
}

BuildIdFrame decode_build_id_frame(Bytes bytes) {
  return {.status = static_cast<BuildIdStatus>(load<int32_t>(bytes)),
          .build_id = bytes.subspan(kBuildIdAt, kBuildIdLength),
          .offset = load<uint64_t>(bytes, kBuildIdOffsetAt)};
}

}  // namespace flowtap
