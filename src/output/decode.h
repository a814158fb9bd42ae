#pragma once
// Raw bytes -> pieces that both the text and the JSON form start from.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "output/scalar.h"
#include "types/type.h"

namespace flowtap {

struct DecodedString {
  std::string_view text;
  bool is_cut = false;  // no NUL was found: there may have been more
};
DecodedString decode_string(Bytes bytes, uint32_t size);

// The payload of a Buffer. A length that points past the storage is held to it.
Bytes decode_buffer(const Type& type, Bytes bytes);

// Empty when no enumerator has the value.
std::string_view enumerator_name(const Type& type, int64_t value);

// A field of C type char[n]: structs show it as text.
bool is_char_array(const Type& type);

inline Bytes field_bytes(const Field& field, Bytes parent) { return parent.subspan(field.offset); }

// Fields that are not stored as their type says: a bit field, extended by the sign of its declared
// type, and the u32 of a tracepoint's __data_loc, whose text lies outside. Nothing for others.
std::optional<Scalar> packed_field(const Field& field, Bytes parent);

// One frame of a BuildId stack.
enum class BuildIdStatus : int32_t { Empty, Valid, Address };
struct BuildIdFrame {
  BuildIdStatus status = BuildIdStatus::Empty;
  Bytes build_id;
  uint64_t offset = 0;  // into the file; the address itself when no build id was found
};
BuildIdFrame decode_build_id_frame(Bytes bytes);

}  // namespace flowtap
