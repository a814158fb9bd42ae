// JSON strings and numbers. Strings come from traced memory and hold any bytes, but a JSON
// document is UTF-8: a byte that belongs to no character becomes U+FFFD, so that one bad file
// name does not make the whole stream unreadable.

#include "output/json_string.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace flowtap {

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The length of the UTF-8 character the text begins with, at least 2; 0 when it is none.
static size_t utf8_length(std::string_view text) {
  unsigned char lead = static_cast<unsigned char>(text[0]);
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; i++)
    if (!is_continuation(text[i])) return 0;
  // Overlong forms, surrogates and values past U+10FFFF show in the second byte.
  unsigned char second = static_cast<unsigned char>(text[1]);
  bool is_bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return is_bad ? 0 : length;
}

static void append_escape(std::string& out, char c) {
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
      append_escape(out, text[0]);
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

void append_json_number(std::string& out, Number number) {
  bool is_quoted = !is_exact_double(number.is_negative() ? 0 - number.bits : number.bits);
  if (is_quoted) out += '"';
  append_number(out, number);
  if (is_quoted) out += '"';
}

}  // namespace flowtap
