// Format strings: text with conversions -> pieces. Way in: parse_format().
//
//   conversion := '%' ['-'] ['+'] [' '] ['#'] ['0'] [width | '*'] ['.' (digits | '*')] length*
//   letter length     := 'h' 'hh' 'l' 'll' 'L' 'j' 'z' 't' letter     := d i u o x X c p s r rx rh
//   gr
//
// The flags stand in this order only. Whatever does not fit the rule is copied as it is, percent
// sign included, which is what scripts written for bpftrace rely on; but the C conversions we
// cannot honour (there is no floating point in a BPF program) are refused rather than printed.

#include "types/format.h"

#include <fmt/format.h>

#include <optional>

namespace flowtap {

// Wider fields are a slip of the pen, and would let a script fill memory with blanks.
static constexpr uint32_t kMaxFieldWidth = 65535;

namespace {

class FormatParser {
 public:
  explicit FormatParser(std::string_view format) : format_(format) {}

  Result<std::vector<FormatPiece>> parse();

 private:
  bool accept(char c);
  uint32_t number();
  void flags(FormatPiece& piece);
  void length(FormatPiece& piece);
  Conversion letter();
  std::optional<Error> conversion();

  std::string_view format_;
  size_t at_ = 0;
  FormatPiece piece_;  // the one whose literal is being collected
  std::vector<FormatPiece> pieces_;
};

bool FormatParser::accept(char c) {
  if (at_ >= format_.size() || format_[at_] != c) return false;
  at_++;
  return true;
}

uint32_t FormatParser::number() {
  uint32_t value = 0;
  while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
    if (value <= kMaxFieldWidth) value = value * 10 + static_cast<uint32_t>(format_[at_] - '0');
    at_++;
  }
  return value;
}

void FormatParser::flags(FormatPiece& piece) {
  piece.left = accept('-');
  piece.plus = accept('+');
  accept(' ');
  piece.alternate = accept('#');
  piece.zero = accept('0');
  if (!accept('*')) piece.width = number();
  if (accept('.') && !accept('*')) piece.precision = static_cast<int32_t>(number());
}

void FormatParser::length(FormatPiece& piece) {
  for (; at_ < format_.size(); at_++) {
    switch (format_[at_]) {
      case 'h': piece.bytes = piece.bytes == 2 ? 1 : 2; break;
      case 'l':
      case 'L':
      case 'j':
      case 'z':
      case 't': piece.bytes = 8; break;
      default: return;
    }
  }
}

Conversion FormatParser::letter() {
  if (at_ >= format_.size()) return Conversion::None;
  switch (format_[at_++]) {
    case 'd':
    case 'i': return Conversion::Signed;
    case 'u': return Conversion::Unsigned;
    case 'o': return Conversion::Octal;
    case 'x': return Conversion::HexLower;
    case 'X': return Conversion::HexUpper;
    case 'c': return Conversion::Char;
    case 'p': return Conversion::Pointer;
    case 's': return Conversion::String;
    case 'r':
      if (accept('x')) return Conversion::BufferHexEscaped;
      return accept('h') ? Conversion::BufferHex : Conversion::Buffer;
    case 'g': return accept('r') ? Conversion::GfpFlags : Conversion::None;
    default: return Conversion::None;
  }
}

// At the character after a '%'. Either ends the current piece with a conversion, or appends the
// percent sign to its literal and stays where it is.
std::optional<Error> FormatParser::conversion() {
  size_t start = at_;
  FormatPiece parsed;
  flags(parsed);
  length(parsed);
  size_t letter_at = at_;
  parsed.conversion = letter();
  parsed.text = fmt::format("%{}", format_.substr(start, at_ - start));

  if (parsed.conversion != Conversion::None) {
    if (parsed.width > kMaxFieldWidth || parsed.precision > static_cast<int32_t>(kMaxFieldWidth))
      return Error{fmt::format("the field of '{}' is wider than {}", parsed.text, kMaxFieldWidth)};
    parsed.literal = std::move(piece_.literal);
    pieces_.push_back(std::move(parsed));
    piece_ = {};
    return std::nullopt;
  }
  bool is_refused =
      letter_at < format_.size() && std::string_view("efgan").find(format_[letter_at]) < 5;
  if (is_refused) return Error{fmt::format("unsupported format specifier '{}'", parsed.text)};
  piece_.literal += '%';
  at_ = start;
  return std::nullopt;
}

Result<std::vector<FormatPiece>> FormatParser::parse() {
  while (at_ < format_.size()) {
    char c = format_[at_++];
    if (c != '%') {
      piece_.literal += c;
    } else if (accept('%')) {
      piece_.literal += '%';
    } else if (std::optional<Error> error = conversion()) {
      return *error;
    }
  }
  if (!piece_.literal.empty()) pieces_.push_back(std::move(piece_));
  return std::move(pieces_);
}

}  // namespace

Result<std::vector<FormatPiece>> parse_format(std::string_view format) {
  return FormatParser(format).parse();
}

}  // namespace flowtap
