// printf. Way in: append_printf().
//
// Works as in C, but knows the types of its arguments: without a length modifier an integer
// keeps its own width instead of being cut to int, and %s takes anything and shows what print()
// would. Text is formatted in place at the end of the output; padding is inserted afterwards.

#include "output/printf.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/decode.h"
#include "output/escape.h"
#include "output/gfp_flags.h"
#include "output/scalar.h"
#include "output/value_text.h"

namespace flowtap {

static constexpr uint32_t kIntSize = 4;  // what C promotes smaller arguments to

namespace {

struct PrintfWriter {
  std::string& out;
  const ValueContext& context;

  void convert(const FormatPiece& piece, const Field& arg, Bytes record) const;
  void integer(const FormatPiece& piece, Scalar number) const;
  void buffer(const FormatPiece& piece, const Field& arg, Bytes bytes) const;
  void pad(const FormatPiece& piece, size_t start) const;
};

}  // namespace

// What the conversion's width and sign make of an argument.
static Scalar converted(const FormatPiece& piece, const Type& type, Scalar number) {
  bool is_signed = piece.conversion == Conversion::Signed;
  uint32_t bytes = piece.bytes;
  // -1 in a small type prints as ffffffff with %x, as it would in C.
  if (bytes == 0) bytes = is_signed || !number.is_signed ? 8 : std::max(kIntSize, type->size);
  if (bytes >= 8) return {number.bits, is_signed};
  int unused = static_cast<int>(64 - bytes * 8);
  uint64_t top = number.bits << unused;
  return {is_signed ? static_cast<uint64_t>(static_cast<int64_t>(top) >> unused) : top >> unused,
          is_signed};
}

static std::string digits_of(const FormatPiece& piece, uint64_t magnitude) {
  switch (piece.conversion) {
    case Conversion::Octal: return fmt::format("{:o}", magnitude);
    case Conversion::HexLower:
    case Conversion::Pointer: return fmt::format("{:x}", magnitude);
    case Conversion::HexUpper: return fmt::format("{:X}", magnitude);
    default: return fmt::format_int(magnitude).str();
  }
}

static std::string_view prefix_of(const FormatPiece& piece, Scalar number) {
  if (number.is_negative()) return "-";
  switch (piece.conversion) {
    case Conversion::Signed: return piece.plus ? "+" : "";
    case Conversion::Pointer: return "0x";
    case Conversion::HexLower: return piece.alternate && number.bits ? "0x" : "";
    case Conversion::HexUpper: return piece.alternate && number.bits ? "0X" : "";
    case Conversion::Octal: return piece.alternate && number.bits ? "0" : "";
    default: return "";
  }
}

// Most conversions are a bare %d or %u.
static bool is_bare_decimal(const FormatPiece& piece) {
  bool is_decimal =
      piece.conversion == Conversion::Signed || piece.conversion == Conversion::Unsigned;
  return is_decimal && piece.width == 0 && piece.precision < 0 && !piece.plus;
}

// [blanks] prefix [zeros] digits [blanks]
void PrintfWriter::integer(const FormatPiece& piece, Scalar number) const {
  if (is_bare_decimal(piece)) return append_number(out, number);
  std::string_view prefix = prefix_of(piece, number);
  std::string digits = digits_of(piece, number.is_negative() ? 0 - number.bits : number.bits);
  if (piece.precision == 0 && number.bits == 0) digits.clear();
  size_t wanted = piece.precision > 0 ? static_cast<size_t>(piece.precision) : 0;
  if (piece.zero && !piece.left && piece.precision < 0 && piece.width > prefix.size())
    wanted = piece.width - prefix.size();

  size_t start = out.size();
  out += prefix;
  if (wanted > digits.size()) out.append(wanted - digits.size(), '0');
  out += digits;
  pad(piece, start);
}

void PrintfWriter::buffer(const FormatPiece& piece, const Field& arg, Bytes bytes) const {
  if (!is(arg.type, Kind::Buffer)) return append_text(out, arg.type, bytes, context);
  BufferStyle style = piece.conversion == Conversion::Buffer      ? BufferStyle::Printable
                      : piece.conversion == Conversion::BufferHex ? BufferStyle::Hex
                                                                  : BufferStyle::Escaped;
  append_buffer(out, decode_buffer(arg.type, bytes), style);
}

void PrintfWriter::pad(const FormatPiece& piece, size_t start) const {
  size_t length = out.size() - start;
  if (length >= piece.width) return;
  out.insert(piece.left ? out.size() : start, piece.width - length, ' ');
}

void PrintfWriter::convert(const FormatPiece& piece, const Field& arg, Bytes record) const {
  Bytes bytes = field_bytes(arg, record);
  size_t start = out.size();
  std::optional<Scalar> number;
  if (piece.conversion != Conversion::String) number = scalar_of(arg.type, bytes);
  switch (piece.conversion) {
    case Conversion::Buffer:
    case Conversion::BufferHexEscaped:
    case Conversion::BufferHex: buffer(piece, arg, bytes); break;
    case Conversion::GfpFlags: append_gfp_flags(out, number ? number->bits : 0); break;
    case Conversion::Char: out += static_cast<char>(number ? number->bits : ' '); break;
    default:
      if (number) return integer(piece, converted(piece, arg.type, *number));
      append_text(out, arg.type, bytes, context);
      if (piece.precision >= 0)
        out.resize(std::min(out.size(), start + static_cast<size_t>(piece.precision)));
  }
  if (context.is_terminal) escape_tail(out, start, LineEnds::Keep);
  pad(piece, start);
}

void append_printf(std::string& out, const FormatCall& call, const ValueContext& context) {
  PrintfWriter writer{out, context};
  size_t next = 0;
  for (const FormatPiece& piece : call.format) {
    out += piece.literal;
    if (piece.conversion == Conversion::None) continue;
    CHECK(next < call.args.size());
    writer.convert(piece, call.args[next++], call.record);
  }
}

}  // namespace flowtap
