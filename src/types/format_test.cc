#include "types/format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace flowtap {
namespace {

std::string_view conversion_name(Conversion conversion) {
  switch (conversion) {
    case Conversion::None: return "none";
    case Conversion::Signed: return "signed";
    case Conversion::Unsigned: return "unsigned";
    case Conversion::Octal: return "octal";
    case Conversion::HexLower: return "hex";
    case Conversion::HexUpper: return "HEX";
    case Conversion::Char: return "char";
    case Conversion::Pointer: return "pointer";
    case Conversion::String: return "string";
    case Conversion::Buffer: return "buffer";
    case Conversion::BufferHexEscaped: return "buffer-escaped";
    case Conversion::BufferHex: return "buffer-hex";
    case Conversion::GfpFlags: return "gfp";
  }
  return "?";
}

// "literal" then "<conversion flags width .precision bytes>".
std::string describe(const Result<std::vector<FormatPiece>>& pieces) {
  if (!pieces) return "error: " + pieces.error().message();
  std::string out;
  for (const FormatPiece& piece : *pieces) {
    out += piece.literal;
    if (piece.conversion == Conversion::None) continue;
    out += fmt::format("<{}", conversion_name(piece.conversion));
    if (piece.left) out += " -";
    if (piece.plus) out += " +";
    if (piece.alternate) out += " #";
    if (piece.zero) out += " 0";
    if (piece.width) out += fmt::format(" w{}", piece.width);
    if (piece.precision >= 0) out += fmt::format(" .{}", piece.precision);
    if (piece.bytes) out += fmt::format(" b{}", piece.bytes);
    out += '>';
  }
  return out;
}

struct Case {
  const char* name;
  const char* format;
  const char* expected;
};

class FormatTest : public testing::TestWithParam<Case> {};

TEST_P(FormatTest, parses) {
  EXPECT_EQ(describe(parse_format(GetParam().format)), GetParam().expected);
}

const Case kCases[] = {
    {"empty", "", ""},
    {"literal_only", "hello\n", "hello\n"},
    {"percent_sign", "100%%d", "100%d"},
    {"text_around", "a %d b", "a <signed> b"},
    {"every_letter", "%d%i%u%o%x%X%c%p%s",
     "<signed><signed><unsigned><octal><hex><HEX><char><pointer><string>"},
    {"buffers", "%r %rx %rh", "<buffer> <buffer-escaped> <buffer-hex>"},
    {"gfp", "%gr", "<gfp>"},
    {"flags_in_order", "%-+ #012.3d", "<signed - + # 0 w12 .3>"},
    {"flags_out_of_order_are_text", "%+-5d", "%+-5d"},
    {"width", "%-16s|%6d", "<string - w16>|<signed w6>"},
    {"precision_without_digits_is_zero", "%.s", "<string .0>"},
    {"stars_are_ignored", "%*d %.*s", "<signed> <string>"},
    {"lengths", "%hhd%hd%ld%lld%jd%zd%td",
     "<signed b1><signed b2><signed b8><signed b8><signed b8><signed b8><signed b8>"},
    {"unknown_is_text", "%z %y %", "%z %y %"},
    {"unknown_before_conversion", "%y%d", "%y<signed>"},
    {"float", "%5.2f", "error: unsupported format specifier '%5.2f'"},
    {"exponent", "%e", "error: unsupported format specifier '%e'"},
    {"general", "x %g", "error: unsupported format specifier '%g'"},
    {"hex_float", "%a", "error: unsupported format specifier '%a'"},
    {"count_so_far", "%n", "error: unsupported format specifier '%n'"},
    {"absurd_width", "%9999999999999d",
     "error: the field of '%9999999999999d' is wider than 65535"},
};

INSTANTIATE_TEST_SUITE_P(All, FormatTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(FormatTextTest, keeps_the_conversion_as_written) {
  std::vector<FormatPiece> pieces = *parse_format("a%-5ld%rx");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].text, "%-5ld");
  EXPECT_EQ(pieces[1].text, "%rx");
}

}  // namespace
}  // namespace flowtap
