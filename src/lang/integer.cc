// Integer literals. Entry point: parse_integer_text().
//
//   number      = hex | octal | decimal [suffix] | digit "e" exponent [suffix]
//   suffix      = "u" | "ul" | "ull" | "l" | "ll"        only narrows the range
//               | "ns" | "us" | "ms" | "s" | "m" | "h" | "d"    times so many nanoseconds
//
// '_' may stand between digits. There are no floats: 1e6 is an integer whose coefficient is one
// digit, which keeps 11e3 from being taken for something more precise than it is.

#include "lang/integer.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"

namespace flowtap {

namespace {

constexpr uint64_t kMax = UINT64_MAX;

struct Suffix {
  std::string_view text;
  uint64_t factor;
  uint64_t maximum;
};

constexpr Suffix kSuffixes[] = {
    {"", 1, kMax},
    {"u", 1, UINT32_MAX},
    {"ul", 1, kMax},
    {"ull", 1, kMax},
    {"l", 1, INT64_MAX},
    {"ll", 1, INT64_MAX},
    {"ns", 1, kMax},
    {"us", 1'000, kMax},
    {"ms", 1'000'000, kMax},
    {"s", 1'000'000'000, kMax},
    {"m", 60'000'000'000, kMax},
    {"h", 3'600'000'000'000, kMax},
    {"d", 86'400'000'000'000, kMax},
};

IntegerText failure(std::string error, std::string hint = {}) {
  return IntegerText{.value = 0, .error = std::move(error), .hint = std::move(hint)};
}

IntegerText too_large(std::string_view text, uint64_t maximum) {
  return failure(fmt::format("integer '{}' is larger than {}", text, maximum));
}

const Suffix* find_suffix(std::string_view text) {
  std::string lower = to_lower(text);
  for (const Suffix& suffix : kSuffixes)
    if (suffix.text == lower) return &suffix;
  return nullptr;
}

std::optional<uint64_t> convert(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

IntegerText read_hex(std::string_view text, std::string_view digits) {
  size_t bad = digits.find_first_not_of("0123456789abcdefABCDEF");
  if (digits.empty()) return failure(fmt::format("'{}' has no digits", text));
  if (bad != std::string_view::npos)
    return failure(
        fmt::format("'{}' is not a hexadecimal digit in '{}'", digits.substr(bad, 1), text));
  std::optional<uint64_t> value = convert(digits, 16);
  if (!value) return too_large(text, kMax);
  return IntegerText{.value = *value, .error = {}, .hint = {}};
}

// The value of a decimal, octal or scientific number, without its suffix.
IntegerText read_value(std::string_view text, std::string_view digits, std::string_view exponent) {
  if (digits.size() > 1 && digits[0] == '0') {
    if (digits.find_first_of("89") != std::string_view::npos)
      return failure(fmt::format("'{}' is not an octal number, and a leading 0 makes it one", text),
                     fmt::format("write '{}'", digits.substr(digits.find_first_not_of('0'))));
    std::optional<uint64_t> value = convert(digits, 8);
    return value ? IntegerText{.value = *value, .error = {}, .hint = {}} : too_large(text, kMax);
  }
  std::optional<uint64_t> value = convert(digits, 10);
  if (!value) return too_large(text, kMax);
  uint64_t power = exponent.empty() ? 0 : convert(exponent, 10).value_or(kMax);
  if (power > 19) return too_large(text, kMax);
  for (uint64_t i = 0; i < power; i++)
    if (__builtin_mul_overflow(*value, 10u, &*value)) return too_large(text, kMax);
  return IntegerText{.value = *value, .error = {}, .hint = {}};
}

IntegerText unknown_suffix(std::string_view text, std::string_view digits,
                           std::string_view suffix) {
  std::string error = fmt::format("unknown suffix '{}' of integer '{}'", suffix, text);
  bool is_binary = digits == "0" && suffix.size() > 1 && to_lower(suffix)[0] == 'b';
  std::optional<uint64_t> value = is_binary ? convert(suffix.substr(1), 2) : std::nullopt;
  if (value) return failure(error, fmt::format("write '{:#x}'", *value));
  return failure(error, "suffixes are ns us ms s m h d, u ul ull l ll");
}

// An 'e' that is followed by a digit makes a number scientific.
bool is_scientific(std::string_view rest) {
  return rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E') && is_digit(rest[1]);
}

size_t count_digits(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) n++;
  return n;
}

}  // namespace

IntegerText parse_integer_text(std::string_view text) {
  if (text.back() == '_') return failure(fmt::format("integer '{}' ends in an underscore", text));
  std::string plain;
  for (char c : text)
    if (c != '_') plain += c;
  std::string_view rest = plain;
  if (rest.starts_with("0x") || rest.starts_with("0X")) return read_hex(text, rest.substr(2));

  std::string_view digits = rest.substr(0, count_digits(rest));
  rest.remove_prefix(digits.size());
  std::string_view exponent;
  if (is_scientific(rest)) {
    exponent = rest.substr(1, count_digits(rest.substr(1)));
    rest.remove_prefix(1 + exponent.size());
    if (digits.size() != 1 || digits[0] == '0')
      return failure(
          fmt::format("the part of '{}' before the 'e' must be one digit, 1 to 9", text));
    if (exponent[0] == '0')
      return failure(fmt::format("the exponent of '{}' must not begin with 0", text));
  }
  const Suffix* suffix = find_suffix(rest);
  if (!suffix) return unknown_suffix(text, digits, rest);

  IntegerText number = read_value(text, digits, exponent);
  if (!number.error.empty()) return number;
  if (number.value > suffix->maximum) return too_large(text, suffix->maximum);
  if (__builtin_mul_overflow(number.value, suffix->factor, &number.value))
    return too_large(text, kMax);
  return number;
}

}  // namespace flowtap
