// What arguments of builtins must be: their types, what must be known now, and the ranges of
// numbers.

#include "sema/infer_arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace flowtap {

void Arguments::check_condition(const Expr& condition) {
  Type type = readable(info(condition).type);
  bool can_be_tested = is_scalar(type) || is(type, Kind::String) || is(type, Kind::Unknown);
  if (!can_be_tested)
    error(condition.span,
          fmt::format("a condition must be an integer, bool, pointer or string, found '{}'",
                      type_name(type)));
}

bool Arguments::expect_integer(const Expr& arg, std::string_view function) {
  Type type = readable(info(arg).type);
  if (is_integer(type)) return true;
  if (!is(type, Kind::Unknown))
    error(arg.span,
          fmt::format("{}() takes an integer here, found '{}'", function, type_name(type)));
  return false;
}

bool Arguments::expect_address(const Expr& arg, std::string_view function) {
  return is(info(arg).type, Kind::Pointer) || expect_integer(arg, function);
}

bool Arguments::expect_string(const Expr& arg, std::string_view function) {
  const Type& type = info(arg).type;
  if (is(type, Kind::String)) return true;
  if (!is(type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a string here, found '{}'", function, type_name(type)));
  return false;
}

std::optional<std::string> Arguments::expect_literal_text(const Expr& arg,
                                                          std::string_view function) {
  if (info(arg).text) return info(arg).text;
  if (!is(info(arg).type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a string literal here", function));
  return std::nullopt;
}

std::optional<int64_t> Arguments::expect_literal_number(const Expr& arg,
                                                        std::string_view function) {
  if (info(arg).value) return info(arg).value;
  if (!is(info(arg).type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a number known at compile time here", function));
  return std::nullopt;
}

// Reports a constant that is out of range; false then.
bool Arguments::expect_within(const Expr& arg, const std::string& what, int64_t low, int64_t high) {
  std::optional<int64_t> number = info(arg).value;
  bool is_huge = number && *number < 0 && info(arg).is_literal;  // above INT64_MAX
  if (!number || (!is_huge && *number >= low && *number <= high)) return true;
  std::string range =
      high == INT64_MAX ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
  std::string found =
      is_huge ? std::to_string(static_cast<uint64_t>(*number)) : std::to_string(*number);
  error(arg.span, fmt::format("{} must be {}, found {}", what, range, found));
  return false;
}

// The length of str() and buf(), as far as it is known: nothing after a mistake, `most` for one
// that the script works out.
std::optional<uint64_t> Arguments::expect_length(const Expr& arg, std::string_view function,
                                                 uint64_t most) {
  if (!expect_integer(arg, function)) return std::nullopt;
  std::optional<int64_t> length = info(arg).value;
  if (!length) return most;
  if (!info(arg).is_literal &&
      !expect_within(arg, fmt::format("the length of {}()", function), 0, INT64_MAX))
    return std::nullopt;
  return std::min(most, static_cast<uint64_t>(*length));
}

bool Arguments::points_to(const Type& type, std::string_view name) const {
  return is(type, Kind::Pointer) && is(type->element, Kind::Struct) && type->element->name == name;
}

// memcmp() looks at bytes where they lie, or at those behind a pointer.
bool Arguments::expect_bytes(const Expr& arg, std::string_view function) {
  const Type& type = info(arg).type;
  bool fits = is(type, Kind::String) || is(type, Kind::Array) || is(type, Kind::Buffer) ||
              is(type, Kind::Struct) || is(type, Kind::Pointer) || is(type, Kind::Unknown);
  if (!fits)
    error(arg.span, fmt::format("{}() takes a string, an array, a buffer or a pointer, found '{}'",
                                function, type_name(type)));
  return fits;
}

}  // namespace flowtap
