// Values as text. Ways in: append_text(), append_key().
// One method per shape; a value inside another is written by the same function as at the top.
// Histograms and time series are here too, so that whatever has a type can be written, but maps
// give them lines of their own (map_writer.cc).

#include "output/value_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <iterator>

#include "output/decode.h"
#include "output/histogram.h"
#include "output/scalar.h"
#include "output/stack.h"
#include "output/stats_text.h"
#include "output/time_format.h"
#include "output/tseries.h"

namespace flowtap {

namespace {

struct TextPrinter {
  std::string& out;
  const ValueContext& context;
  TextStyle style;

  void value(const Type& type, Bytes bytes) const;
  void number(const Type& type, Bytes bytes) const;
  void enumerator(const Type& type, int64_t number) const;
  void string(const Type& type, Bytes bytes) const;
  void pointer(Bytes bytes) const;
  void array(const Type& type, Bytes bytes) const;
  void fields(const Type& type, Bytes bytes) const;
  void field(const Field& field, Bytes parent, bool is_struct) const;
  void elements(const Type& type, Bytes bytes) const;
  void stack(const Type& type, Bytes bytes) const;
  void username(Bytes bytes) const;
  void inet(Bytes bytes) const;
  void mac(Bytes bytes) const;
  void cgroup_path(Bytes bytes) const;
  void timestamp(Bytes bytes) const;

  std::string_view comma() const { return style == TextStyle::Compact ? "," : ", "; }
};

void TextPrinter::number(const Type& type, Bytes bytes) const {
  append_number(out, *scalar_of(type, bytes));
}

void TextPrinter::enumerator(const Type& type, int64_t number) const {
  std::string_view name = enumerator_name(type, number);
  if (name.empty())
    append_number(out, {static_cast<uint64_t>(number), type->is_signed});
  else
    out += name;
}

void TextPrinter::string(const Type& type, Bytes bytes) const {
  DecodedString decoded = decode_string(bytes, type->size);
  out += decoded.text;
  if (decoded.is_cut && !type->is_char_array) out += context.cut_trailer;
}

void TextPrinter::pointer(Bytes bytes) const {
  fmt::format_to(std::back_inserter(out), "{:#x}", load<uint64_t>(bytes));
}

void TextPrinter::array(const Type& type, Bytes bytes) const {
  out += '[';
  for (uint32_t i = 0; i < type->count; i++) {
    if (i > 0) out += ',';
    value(type->element, bytes.subspan(static_cast<size_t>(i) * type->element->size));
  }
  out += ']';
}

void TextPrinter::field(const Field& field, Bytes parent, bool is_struct) const {
  if (std::optional<Scalar> bits = packed_field(field, parent)) {
    if (is(field.type, Kind::Enum)) return enumerator(field.type, static_cast<int64_t>(bits->bits));
    if (is(field.type, Kind::Bool)) return static_cast<void>(out += bits->bits ? "true" : "false");
    return append_number(out, *bits);
  }
  Bytes bytes = field_bytes(field, parent);
  // All n bytes of a char[n] may be in use, so a full one is not a cut one.
  if (is_struct && is_char_array(field.type))
    out += decode_string(bytes, field.type->size).text;
  else
    value(field.type, bytes);
}

// Struct and Record: { .a = 1, .b = x }
void TextPrinter::fields(const Type& type, Bytes bytes) const {
  if (type->fields.empty()) return static_cast<void>(out += "{}");
  bool is_compact = style == TextStyle::Compact;
  std::string_view separator = is_compact ? "{" : "{ ";
  for (const Field& f : type->fields) {
    out.append(separator).append(".").append(f.name).append(is_compact ? "=" : " = ");
    field(f, bytes, is(type, Kind::Struct));
    separator = comma();
  }
  out += is_compact ? "}" : " }";
}

void TextPrinter::elements(const Type& type, Bytes bytes) const {
  for (const Field& f : type->fields) {
    if (&f != &type->fields.front()) out += comma();
    value(f.type, field_bytes(f, bytes));
  }
}

void TextPrinter::stack(const Type& type, Bytes bytes) const {
  StackIndent indent = style == TextStyle::Compact ? StackIndent::None : StackIndent::Frames;
  append_stack(out, type, bytes, context, indent);
}

void TextPrinter::username(Bytes bytes) const {
  uint64_t uid = load<uint64_t>(bytes);
  std::string name = context.symbolizer.user_name(uid);
  if (name.empty())
    append_number(out, {uid, false});
  else
    out += name;
}

void TextPrinter::inet(Bytes bytes) const {
  char text[INET6_ADDRSTRLEN] = "";
  int family = load<uint32_t>(bytes) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, bytes.subspan(kInetAddress, 16).data(), text, sizeof(text));
  out += text;
}

void TextPrinter::mac(Bytes bytes) const {
  for (size_t i = 0; i < kMacSize; i++) {
    if (i > 0) out += ':';
    fmt::format_to(std::back_inserter(out), "{:02X}", load<uint8_t>(bytes, i));
  }
}

void TextPrinter::cgroup_path(Bytes bytes) const {
  std::string_view filter = context.string_at(load<uint64_t>(bytes, kCgroupPathFilter));
  out += context.symbolizer.cgroup_path(load<uint64_t>(bytes), filter);
}

void TextPrinter::timestamp(Bytes bytes) const {
  Clock clock = static_cast<Clock>(load<uint32_t>(bytes, kTimestampClock));
  uint64_t ns = context.symbolizer.unix_time(load<uint64_t>(bytes), clock);
  append_time(out, ns, context.string_at(load<uint32_t>(bytes, kTimestampFormat)));
}

void TextPrinter::value(const Type& type, Bytes bytes) const {
  switch (type->kind) {
    case Kind::Unknown:
    case Kind::None: return;
    case Kind::Bool: out += load<uint8_t>(bytes) ? "true" : "false"; return;
    case Kind::Enum: return enumerator(type, load_int(bytes, type->size, type->is_signed));
    case Kind::String: return string(type, bytes);
    case Kind::Buffer:
      return append_buffer(out, decode_buffer(type, bytes), BufferStyle::Printable);
    case Kind::Pointer: return pointer(bytes);
    case Kind::Array: return array(type, bytes);
    case Kind::Struct:
    case Kind::Record: return fields(type, bytes);
    case Kind::Tuple:
      out += '(';
      elements(type, bytes);
      out += ')';
      return;
    case Kind::KStack:
    case Kind::UStack: return stack(type, bytes);
    case Kind::KSym:
    case Kind::USym: return append_symbol(out, type, bytes, context);
    case Kind::Username: return username(bytes);
    case Kind::Inet: return inet(bytes);
    case Kind::Mac: return mac(bytes);
    case Kind::CgroupPath: return cgroup_path(bytes);
    case Kind::Timestamp: return timestamp(bytes);
    case Kind::Int:
    case Kind::Count:
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max:
    case Kind::Avg: return number(type, bytes);
    case Kind::Stats: return append_stats(out, type, bytes);
    case Kind::Hist:
    case Kind::Lhist: return append_histogram(out, type, bytes);
    case Kind::Tseries: return append_tseries(out, type, bytes, context);
  }
}

}  // namespace

void append_text(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                 TextStyle style) {
  TextPrinter{out, context, style}.value(type, bytes);
}

void append_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                TextStyle style) {
  TextPrinter printer{out, context, style};
  if (is(type, Kind::Tuple))
    printer.elements(type, bytes);
  else
    printer.value(type, bytes);
}

void append_buffer(std::string& out, Bytes payload, BufferStyle style) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < payload.size(); i++) {
    unsigned byte = std::to_integer<unsigned>(payload[i]);
    bool is_printable = byte >= 0x20 && byte < 0x7f;
    if (style == BufferStyle::Printable && is_printable) {
      out += static_cast<char>(byte);
      continue;
    }
    if (style != BufferStyle::Hex) out += "\\x";
    if (style == BufferStyle::Hex && i > 0) out += ' ';
    out.append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
}

}  // namespace flowtap
