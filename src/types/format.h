#pragma once
// Format strings of printf and its relatives, parsed once at compile time: the checker compares
// the pieces with the arguments, the runtime only fills them in.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowtap {

enum class Conversion : uint8_t {
  None,  // literal text only
  Signed,
  Unsigned,
  Octal,
  HexLower,
  HexUpper,
  Char,
  Pointer,
  String,
  Buffer,
  BufferHexEscaped,
  BufferHex,  // %r %rx %rh
  GfpFlags,   // %gr
};

// One piece: literal text, then at most one conversion, which takes the next argument.
struct FormatPiece {
  std::string literal;
  Conversion conversion = Conversion::None;
  bool left = false, plus = false, alternate = false, zero = false;
  uint32_t width = 0;
  int32_t precision = -1;  // -1: not given
  uint8_t bytes = 0;       // from hh h l ll j z t; 0: not given
  std::string text;        // the conversion as written, for messages: "%-5d"
};

// An Error names the offending conversion.
Result<std::vector<FormatPiece>> parse_format(std::string_view format);

}  // namespace flowtap
