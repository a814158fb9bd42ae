// Escapes for terminals. Way in: escape_tail(). Most text needs none and is only looked at.

#include "output/escape.h"

namespace flowtap {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

void append_escape(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  unsigned char byte = static_cast<unsigned char>(c);
  out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
}

// The length of the character that may be shown as it is; 0: its first byte must be escaped.
size_t plain_length(std::string_view text, LineEnds line_ends) {
  unsigned char c = static_cast<unsigned char>(text[0]);
  if (c >= 0x80) return is_c1_control(text) ? 0 : utf8_length(text);
  if (c >= 0x20 && c != 0x7f) return 1;
  return line_ends == LineEnds::Keep && (c == '\n' || c == '\t');
}

}  // namespace

size_t utf8_length(std::string_view text) {
  unsigned char lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
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

bool is_c1_control(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xc2' && is_continuation(text[1]) &&
         static_cast<unsigned char>(text[1]) < 0xa0;
}

void escape_tail(std::string& out, size_t start, LineEnds line_ends) {
  size_t at = start;
  while (at < out.size()) {
    size_t length = plain_length(std::string_view(out).substr(at), line_ends);
    if (length == 0) break;
    at += length;
  }
  if (at == out.size()) return;
  std::string tail = out.substr(at);
  out.resize(at);
  for (std::string_view rest = tail; !rest.empty();) {
    size_t length = plain_length(rest, line_ends);
    if (length > 0)
      out += rest.substr(0, length);
    else
      append_escape(out, rest[0]);
    rest.remove_prefix(length > 0 ? length : 1);
  }
}

}  // namespace flowtap
