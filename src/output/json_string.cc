// JSON strings and numbers. Strings come from traced memory and hold any bytes, but a JSON
// document is UTF-8: a byte that belongs to no character becomes U+FFFD, so that one bad file
// name does not make the whole stream unreadable. All control characters are escaped, also those
// that JSON would allow: somebody may look at it on a terminal.

#include "output/json_string.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "output/escape.h"

namespace flowtap {

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

static void append_json_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain]))) plain++;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;

    size_t taken = 1;
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      append_json_escape(out, text[0]);
    } else if (is_c1_control(text)) {
      append_json_escape(out, text[1]);
      taken = 2;
    } else if (size_t length = utf8_length(text)) {
      out.append(text.substr(0, length));
      taken = length;
    } else {
      out += "\\ufffd";
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

void quote_tail(std::string& out, size_t start) {
  size_t plain = start;
  while (plain < out.size() && is_plain(static_cast<unsigned char>(out[plain]))) plain++;
  if (plain == out.size()) {
    out.insert(start, 1, '"');
    out += '"';
    return;
  }
  std::string tail = out.substr(start);
  out.resize(start);
  append_json_string(out, tail);
}

// A double has 53 bits of mantissa; zeros at the low end cost none of them.
static bool is_exact_double(uint64_t magnitude) {
  return magnitude == 0 || std::bit_width(magnitude >> std::countr_zero(magnitude)) <= 53;
}

void append_json_number(std::string& out, Scalar number) {
  bool is_quoted = !is_exact_double(number.is_negative() ? 0 - number.bits : number.bits);
  if (is_quoted) out += '"';
  append_number(out, number);
  if (is_quoted) out += '"';
}

}  // namespace flowtap
