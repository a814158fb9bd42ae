// The one walk over values; see value_visitor.h.

#include "output/value_visitor.h"

#include "output/decode.h"

namespace flowtap {

void ValueVisitor::visit_field(const Field& field, Bytes parent, bool is_struct) {
  if (std::optional<Scalar> bits = packed_field(field, parent)) {
    if (is(field.type, Kind::Enum)) return enumerator(field.type, *bits);
    if (is(field.type, Kind::Bool)) return boolean(bits->bits != 0);
    return number(*bits);
  }
  Bytes bytes = field_bytes(field, parent);
  // All n bytes of a char[n] may be in use, so a full one is not a cut one.
  if (is_struct && is_char_array(field.type))
    string(decode_string(bytes, field.type->size).text, false);
  else
    visit(field.type, bytes);
}

void ValueVisitor::visit_members(const Type& type, Bytes bytes) {
  if (is(type, Kind::Array)) {
    for (uint32_t i = 0; i < type->count; i++) {
      member(type, i);
      visit(type->element, bytes.subspan(static_cast<size_t>(i) * type->element->size));
    }
    return;
  }
  for (size_t i = 0; i < type->fields.size(); i++) {
    member(type, i);
    if (is(type, Kind::Tuple))
      visit(type->fields[i].type, field_bytes(type->fields[i], bytes));
    else
      visit_field(type->fields[i], bytes, is(type, Kind::Struct));
  }
}

void ValueVisitor::visit(const Type& type, Bytes bytes) {
  switch (type->kind) {
    case Kind::Unknown:
    case Kind::None: return none();
    case Kind::Bool: return boolean(load<uint8_t>(bytes) != 0);
    case Kind::Enum: return enumerator(type, *scalar_of(type, bytes));
    case Kind::Pointer: return pointer(*scalar_of(type, bytes));
    case Kind::Int:
    case Kind::Count:
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max:
    case Kind::Avg: return number(*scalar_of(type, bytes));
    case Kind::String: {
      DecodedString decoded = decode_string(bytes, type->size);
      return string(decoded.text, decoded.is_cut && !type->is_char_array);
    }
    case Kind::Buffer: return buffer(decode_buffer(type, bytes));
    case Kind::Array:
    case Kind::Tuple:
    case Kind::Struct:
    case Kind::Record:
      begin(type);
      visit_members(type, bytes);
      return end(type);
    case Kind::KStack:
    case Kind::UStack:
    case Kind::KSym:
    case Kind::USym:
    case Kind::Username:
    case Kind::Inet:
    case Kind::Mac:
    case Kind::CgroupPath:
    case Kind::Timestamp: return looked_up(type, bytes);
    case Kind::Stats: return stats(type, bytes, 1);
    case Kind::Hist:
    case Kind::Lhist: return histogram(type, bytes, 1);
    case Kind::Tseries: return series(type, bytes);
  }
}

void ValueVisitor::visit_entry(const MapContent& map, Bytes value) {
  const Type& type = map.value;
  bool is_divisible = is(type, Kind::Int) || (type->kind >= Kind::Count && type->kind <= Kind::Avg);
  if (is_divisible)
    number(divide(*scalar_of(type, value), map.div));
  else if (is(type, Kind::Stats))
    stats(type, value, map.div);
  else if (is(type, Kind::Hist) || is(type, Kind::Lhist))
    histogram(type, value, map.div);
  else
    visit(type, value);
}

}  // namespace flowtap
