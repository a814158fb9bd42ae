// Values as text. Ways in: append_text(), append_key(). Histograms and time series are here too, so
// that whatever has a type can be written, but maps give them lines of their own (map_writer.cc).

#include "output/value_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <iterator>

#include "base/check.h"
#include "output/decode.h"
#include "output/histogram.h"
#include "output/scalar.h"
#include "output/stack.h"
#include "output/stats_text.h"
#include "output/time_format.h"
#include "output/tseries.h"

namespace flowtap {

void TextValues::enumerator(const Type& type, Scalar number) {
  std::string_view name = enumerator_name(type, static_cast<int64_t>(number.bits));
  if (name.empty())
    append_number(out_, number);
  else
    out_ += name;
}

void TextValues::pointer(Scalar address) {
  fmt::format_to(std::back_inserter(out_), "{:#x}", address.bits);
}

void TextValues::string(std::string_view text, bool is_cut) {
  out_ += text;
  if (is_cut) out_ += context_.cut_trailer;
}

void TextValues::buffer(Bytes payload) { append_buffer(out_, payload, BufferStyle::Printable); }

// [1,2], (1, x) and { .a = 1, .b = x }
void TextValues::begin(const Type& type) {
  bool has_blank = style_ == TextStyle::Plain && !type->fields.empty();
  if (is(type, Kind::Array))
    out_ += '[';
  else if (is(type, Kind::Tuple))
    out_ += '(';
  else
    out_ += has_blank ? "{ " : "{";
}

void TextValues::member(const Type& type, size_t index) {
  bool is_compact = style_ == TextStyle::Compact;
  if (index > 0) out_ += is_compact || is(type, Kind::Array) ? "," : ", ";
  if (is(type, Kind::Array) || is(type, Kind::Tuple)) return;
  out_.append(".").append(type->fields[index].name).append(is_compact ? "=" : " = ");
}

void TextValues::end(const Type& type) {
  bool has_blank = style_ == TextStyle::Plain && !type->fields.empty();
  if (is(type, Kind::Array))
    out_ += ']';
  else if (is(type, Kind::Tuple))
    out_ += ')';
  else
    out_ += has_blank ? " }" : "}";
}

void TextValues::stats(const Type& type, Bytes bytes, uint64_t div) {
  append_stats(out_, type, bytes, div);
}

void TextValues::histogram(const Type& type, Bytes bytes, uint64_t div) {
  append_histogram(out_, type, bytes, div);
}

void TextValues::series(const Type& type, Bytes bytes) {
  append_tseries(out_, type, bytes, context_);
}

static void append_user(std::string& out, Bytes bytes, const ValueContext& context) {
  uint64_t uid = load<uint64_t>(bytes);
  std::string name = context.symbolizer.user_name(uid);
  if (name.empty())
    append_number(out, {uid, false});
  else
    out += name;
}

static void append_inet(std::string& out, Bytes bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  int family = load<uint32_t>(bytes) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, bytes.subspan(kInetAddress, 16).data(), text, sizeof(text));
  out += text;
}

static void append_mac(std::string& out, Bytes bytes) {
  for (size_t i = 0; i < kMacSize; i++) {
    if (i > 0) out += ':';
    fmt::format_to(std::back_inserter(out), "{:02X}", load<uint8_t>(bytes, i));
  }
}

static void append_cgroup_path(std::string& out, Bytes bytes, const ValueContext& context) {
  std::string_view filter = context.string_at(load<uint64_t>(bytes, kCgroupPathFilter));
  out += context.symbolizer.cgroup_path(load<uint64_t>(bytes), filter);
}

static void append_timestamp(std::string& out, Bytes bytes, const ValueContext& context) {
  Clock clock = static_cast<Clock>(load<uint32_t>(bytes, kTimestampClock));
  uint64_t ns = context.symbolizer.unix_time(load<uint64_t>(bytes), clock);
  append_time(out, ns, context.string_at(load<uint32_t>(bytes, kTimestampFormat)));
}

void TextValues::looked_up(const Type& type, Bytes bytes) {
  StackIndent indent = style_ == TextStyle::Compact ? StackIndent::None : StackIndent::Frames;
  switch (type->kind) {
    case Kind::KStack:
    case Kind::UStack: return append_stack(out_, type, bytes, context_, indent);
    case Kind::KSym:
    case Kind::USym: return append_symbol(out_, type, bytes, context_);
    case Kind::Username: return append_user(out_, bytes, context_);
    case Kind::Inet: return append_inet(out_, bytes);
    case Kind::Mac: return append_mac(out_, bytes);
    case Kind::CgroupPath: return append_cgroup_path(out_, bytes, context_);
    case Kind::Timestamp: return append_timestamp(out_, bytes, context_);
    default: UNREACHABLE("a value without a text of its own");
  }
}

void append_text(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                 TextStyle style) {
  TextValues(out, context, style).visit(type, bytes);
}

void append_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                TextStyle style) {
  TextValues printer(out, context, style);
  if (is(type, Kind::Tuple))
    printer.visit_members(type, bytes);
  else
    printer.visit(type, bytes);
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
