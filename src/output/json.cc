// Values as JSON. Ways in: append_json(), append_json_key().
// Numbers stay numbers (pointers and enums too), structures become arrays and objects, and
// everything that user space resolves is the string that text mode would show.

#include "output/json.h"

#include "output/decode.h"
#include "output/histogram.h"
#include "output/json_string.h"
#include "output/scalar.h"
#include "output/stats_text.h"
#include "output/tseries.h"
#include "output/value_text.h"

namespace flowtap {

namespace {

struct JsonPrinter {
  std::string& out;
  const ValueContext& context;

  void value(const Type& type, Bytes bytes) const;
  void number(const Type& type, Bytes bytes) const {
    append_json_number(out, *scalar_of(type, bytes));
  }
  void boolean(bool is_true) const { out += is_true ? "true" : "false"; }
  void text(const Type& type, Bytes bytes) const;
  void buffer(const Type& type, Bytes bytes) const;
  void array(const Type& type, Bytes bytes) const;
  void elements(const Type& type, Bytes bytes) const;
  void fields(const Type& type, Bytes bytes) const;
  void field(const Field& field, Bytes parent, bool is_struct) const;
};

void JsonPrinter::text(const Type& type, Bytes bytes) const {
  size_t start = out.size();
  append_text(out, type, bytes, context);
  quote_tail(out, start);
}

void JsonPrinter::buffer(const Type& type, Bytes bytes) const {
  const char* separator = "[";
  for (std::byte byte : decode_buffer(type, bytes)) {
    out += separator;
    append_number(out, {std::to_integer<uint64_t>(byte), false});
    separator = ",";
  }
  out += *separator == '[' ? "[]" : "]";
}

void JsonPrinter::array(const Type& type, Bytes bytes) const {
  out += '[';
  for (uint32_t i = 0; i < type->count; i++) {
    if (i > 0) out += ',';
    value(type->element, bytes.subspan(static_cast<size_t>(i) * type->element->size));
  }
  out += ']';
}

void JsonPrinter::elements(const Type& type, Bytes bytes) const {
  out += '[';
  for (const Field& f : type->fields) {
    if (&f != &type->fields.front()) out += ',';
    value(f.type, field_bytes(f, bytes));
  }
  out += ']';
}

void JsonPrinter::field(const Field& field, Bytes parent, bool is_struct) const {
  if (std::optional<Scalar> bits = packed_field(field, parent)) {
    if (is(field.type, Kind::Bool)) return boolean(bits->bits != 0);
    return append_json_number(out, *bits);
  }
  Bytes bytes = field_bytes(field, parent);
  if (is_struct && is_char_array(field.type))
    append_json_string(out, decode_string(bytes, field.type->size).text);
  else
    value(field.type, bytes);
}

void JsonPrinter::fields(const Type& type, Bytes bytes) const {
  out += '{';
  for (const Field& f : type->fields) {
    if (&f != &type->fields.front()) out += ", ";
    append_json_string(out, f.name);
    out += ": ";
    field(f, bytes, is(type, Kind::Struct));
  }
  out += '}';
}

void JsonPrinter::value(const Type& type, Bytes bytes) const {
  switch (type->kind) {
    case Kind::Unknown:
    case Kind::None: out += "null"; return;
    case Kind::Bool: return boolean(load<uint8_t>(bytes) != 0);
    case Kind::Buffer: return buffer(type, bytes);
    case Kind::Array: return array(type, bytes);
    case Kind::Tuple: return elements(type, bytes);
    case Kind::Struct:
    case Kind::Record: return fields(type, bytes);
    case Kind::Int:
    case Kind::Enum:
    case Kind::Pointer:
    case Kind::Count:
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max:
    case Kind::Avg: return number(type, bytes);
    case Kind::Stats: return append_stats_json(out, type, bytes);
    case Kind::Hist:
    case Kind::Lhist: return append_histogram_json(out, type, bytes);
    case Kind::Tseries: return append_tseries_json(out, type, bytes, context);
    case Kind::String:
    case Kind::KStack:
    case Kind::UStack:
    case Kind::KSym:
    case Kind::USym:
    case Kind::Username:
    case Kind::Inet:
    case Kind::Mac:
    case Kind::CgroupPath:
    case Kind::Timestamp: return text(type, bytes);
  }
}

}  // namespace

void append_json(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  JsonPrinter{out, context}.value(type, bytes);
}

void append_json_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  size_t start = out.size();
  append_key(out, type, bytes, context, TextStyle::Compact);
  quote_tail(out, start);
}

}  // namespace flowtap
