// What arguments of builtins must be: their types, what must be known now, and the ranges of
// numbers.

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "sema/infer.h"
#include "types/layout.h"

namespace flowtap {

bool Inferrer::expect_integer(const Expr& arg, std::string_view function) {
  Type type = readable(info(arg).type);
  if (is_integer(type)) return true;
  if (!is(type, Kind::Unknown))
    error(arg.span,
          fmt::format("{}() takes an integer here, found '{}'", function, type_name(type)));
  return false;
}

bool Inferrer::expect_address(const Expr& arg, std::string_view function) {
  return is(info(arg).type, Kind::Pointer) || expect_integer(arg, function);
}

bool Inferrer::expect_string(const Expr& arg, std::string_view function) {
  const Type& type = info(arg).type;
  if (is(type, Kind::String)) return true;
  if (!is(type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a string here, found '{}'", function, type_name(type)));
  return false;
}

std::optional<std::string> Inferrer::expect_literal_text(const Expr& arg,
                                                         std::string_view function) {
  if (info(arg).text) return info(arg).text;
  if (!is(info(arg).type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a string literal here", function));
  return std::nullopt;
}

std::optional<int64_t> Inferrer::expect_literal_number(const Expr& arg, std::string_view function) {
  if (info(arg).value) return info(arg).value;
  if (!is(info(arg).type, Kind::Unknown))
    error(arg.span, fmt::format("{}() takes a number known at compile time here", function));
  return std::nullopt;
}

// Reports a constant that is out of range; false then.
bool Inferrer::expect_within(const Expr& arg, const std::string& what, int64_t low, int64_t high) {
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
std::optional<uint64_t> Inferrer::expect_length(const Expr& arg, std::string_view function,
                                                uint64_t most) {
  if (!expect_integer(arg, function)) return std::nullopt;
  std::optional<int64_t> length = info(arg).value;
  if (!length) return most;
  if (!info(arg).is_literal &&
      !expect_within(arg, fmt::format("the length of {}()", function), 0, INT64_MAX))
    return std::nullopt;
  return std::min(most, static_cast<uint64_t>(*length));
}

Type Inferrer::string_call_type(const Expr& expr, const std::vector<ExprPtr>& args) {
  Type from = readable(info(*args[0]).type);
  uint64_t most = program_.config.max_strlen;
  if (args.size() > 1) most = std::min(most, expect_length(*args[1], "str", most).value_or(0) + 1);
  if (is(from, Kind::String))
    return string_type(std::min<uint32_t>(static_cast<uint32_t>(most), from->size));
  if (is(from, Kind::Array) && from->element->size == 1)
    return string_type(std::min<uint32_t>(static_cast<uint32_t>(most), from->count));
  if (!is_scalar(from) && !is(from, Kind::Unknown))
    error(expr.span,
          fmt::format("str() takes an address or a string, found '{}'", type_name(from)));
  return string_type(static_cast<uint32_t>(most));
}

Type Inferrer::buffer_call_type(const Expr& expr, const std::vector<ExprPtr>& args) {
  Type from = readable(info(*args[0]).type);
  uint64_t most = program_.config.max_strlen;
  if (is(from, Kind::None) || is_aggregation(from)) {
    error(args[0]->span, fmt::format("buf() takes an address, found '{}'", type_name(from)));
    return unknown_type();
  }
  bool is_known = !is(from, Kind::Unknown), has_own_size = is_known && !is_scalar(from);
  if (has_own_size)
    most = std::min<uint64_t>(most, from->size - (is(from, Kind::Buffer) ? kBufferHeader : 0));
  if (args.size() > 1) {
    std::optional<uint64_t> length = expect_length(*args[1], "buf", most);
    if (!length) return unknown_type();
    std::optional<int64_t> wanted = info(*args[1]).value;
    if (!has_own_size && wanted && static_cast<uint64_t>(*wanted) > most)
      warning(args[1]->span, fmt::format("buf() takes at most max_strlen = {} bytes", most))
          .with_hint(fmt::format("raise it in the config block: config = {{ max_strlen = {} }}",
                                 static_cast<uint64_t>(*wanted)));
    most = *length;
  } else if (is_known && !has_own_size) {
    error(expr.span, "buf() of an address needs a length")
        .with_hint("use it as: buf(pointer, length)");
  }
  return buffer_type(static_cast<uint32_t>(std::max<uint64_t>(1, most)));
}

// ntop(family, address): the family decides how many bytes are shown.
void Inferrer::check_family(const Expr& family, uint32_t bytes) {
  std::optional<int64_t> number = info(family).value;
  if (!expect_integer(family, "ntop") || !number) return;
  if (*number != AF_INET && *number != AF_INET6)
    error(family.span,
          fmt::format("the family of ntop() is AF_INET or AF_INET6, found {}", *number));
  else if (*number == AF_INET6 && bytes == 4)
    error(family.span, "an address of the family AF_INET6 has 16 bytes, found 4");
}

}  // namespace flowtap
