// Functions on strings, memory and addresses; see infer_memory.h.

#include "sema/infer_memory.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/ip_prefix.h"
#include "types/layout.h"

namespace flowtap {

// Bytes that memcmp() compares, eight at a time in code of their own.
static constexpr int64_t kMostCompared = 16384;

Type MemoryFunctions::string_call_type(const Expr& expr, const std::vector<ExprPtr>& args) {
  Type from = readable(info(*args[0]).type);
  uint64_t most = program_.config.max_strlen;
  if (args.size() > 1)
    most =
        std::clamp<uint64_t>(arguments_.expect_length(*args[1], "str", most).value_or(0), 1, most);
  if (is(from, Kind::String))
    return from->size <= most ? from : string_type(static_cast<uint32_t>(most));
  if (is(from, Kind::Array) && from->element->size == 1)
    return from->count <= most ? char_array_type(from->count)
                               : string_type(static_cast<uint32_t>(most));
  if (!is_scalar(from) && !is(from, Kind::Unknown))
    error(expr.span,
          fmt::format("str() takes an address or a string, found '{}'", type_name(from)));
  return string_type(static_cast<uint32_t>(most));
}

Type MemoryFunctions::buffer_call_type(const Expr& expr, const std::vector<ExprPtr>& args) {
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
    std::optional<uint64_t> length = arguments_.expect_length(*args[1], "buf", most);
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
void MemoryFunctions::check_family(const Expr& family, uint32_t bytes) {
  std::optional<int64_t> number = info(family).value;
  if (!arguments_.expect_integer(family, "ntop") || !number) return;
  if (*number != AF_INET && *number != AF_INET6)
    error(family.span,
          fmt::format("the family of ntop() is AF_INET or AF_INET6, found {}", *number));
  else if (*number == AF_INET6 && bytes == 4)
    error(family.span, "an address of the family AF_INET6 has 16 bytes, found 4");
}

// Functions on strings, memory and addresses.
Type MemoryFunctions::memory_function_type(const Expr& expr, const Builtin& builtin,
                                           const std::vector<ExprPtr>& args) {
  const Type& first = info(*args[0]).type;
  switch (builtin.id) {
    case Fn::Str: return string_call_type(expr, args);
    case Fn::Buf: return buffer_call_type(expr, args);
    case Fn::StrConcat: {
      if (!arguments_.expect_string(*args[0], "str_concat") ||
          !arguments_.expect_string(*args[1], "str_concat"))
        return unknown_type();
      uint64_t size = uint64_t{first->size} + info(*args[1]).type->size - 1;
      return string_type(static_cast<uint32_t>(
          std::min<uint64_t>(size, std::max<uint64_t>(program_.config.max_strlen, first->size))));
    }
    case Fn::Strncmp:
    case Fn::Memcmp: {
      if (builtin.id == Fn::Memcmp)
        arguments_.expect_bytes(*args[0], "memcmp"), arguments_.expect_bytes(*args[1], "memcmp");
      if (arguments_.expect_literal_number(*args[2], builtin.name))
        arguments_.expect_within(*args[2], fmt::format("the length of {}()", builtin.name), 0,
                                 builtin.id == Fn::Memcmp ? kMostCompared : INT64_MAX);
      return int_type(8, true);
    }
    case Fn::Bswap:
      return arguments_.expect_integer(*args[0], "bswap")
                 ? int_type(std::max(1u, readable(first)->size), false)
                 : unknown_type();
    case Fn::Ntop: {
      const Expr& address = *args.back();
      Type type = readable(info(address).type);
      bool fits = is_integer(type) ||
                  (is(type, Kind::Array) && (type->size == 4 || type->size == 16)) ||
                  (is(type, Kind::String) && (type->size == 4 || type->size == 16));
      bool is_pointer_to_bytes =
          is(type, Kind::Pointer) && (type->element->size == 4 || type->element->size == 16);
      if (!fits && !is_pointer_to_bytes && !is(type, Kind::Unknown))
        error(address.span, fmt::format("ntop() takes an IPv4 integer or 4 or 16 bytes, found '{}'",
                                        type_name(type)));
      uint32_t size = is_pointer_to_bytes ? type->element->size : type->size;
      if (args.size() == 2) check_family(*args[0], is_integer(type) ? 4 : size);
      return simple_type(Kind::Inet, kInetSize);
    }
    case Fn::InPrefix: {
      if (!is(first, Kind::Inet) && !is(first, Kind::Unknown))
        error(args[0]->span,
              fmt::format("in_prefix() takes an address, found '{}'", type_name(first)))
            .with_hint("ntop() makes an address of it");
      const std::optional<std::string>& text = info(*args[1]).text;
      if (text && !parse_prefix(*text))
        error(args[1]->span, fmt::format("'{}' is not a prefix of IPv4 or IPv6 addresses", *text))
            .with_hint("write it as 10.1.0.0/16, fe80::/10 or a whole address");
      return bool_type();
    }
    case Fn::Pton: {
      const std::optional<std::string>& text = info(*args[0]).text;
      unsigned char bytes[16];
      bool is_v6 = text && inet_pton(AF_INET6, text->c_str(), bytes) == 1;
      if (text && !is_v6 && inet_pton(AF_INET, text->c_str(), bytes) != 1)
        error(args[0]->span, fmt::format("'{}' is not an IPv4 or IPv6 address", *text));
      return array_type(int_type(1, false), is_v6 ? 16 : 4);
    }
    case Fn::Macaddr: {
      bool fits = (is(first, Kind::Array) || is(first, Kind::String)) ? first->size == 6
                                                                      : is(first, Kind::Pointer);
      if ((!fits || info(*args[0]).text) && !is(first, Kind::Unknown))
        error(args[0]->span, fmt::format("macaddr() takes 6 bytes, found '{}'", type_name(first)));
      return simple_type(Kind::Mac, 6);
    }
    case Fn::Kptr:
    case Fn::Uptr: {
      AddressSpace space = builtin.id == Fn::Kptr ? AddressSpace::Kernel : AddressSpace::User;
      if (is(first, Kind::Pointer)) return pointer_type(first->element, space);
      arguments_.expect_integer(*args[0], builtin.name);
      return pointer_type(none_type(), space);
    }
    case Fn::Strftime:
      if (info(*args[1]).value.value_or(0) < 0 && !info(*args[1]).is_literal)
        error(args[1]->span, "strftime() takes no time before the start of the clock");
      if (const Builtin* clock = info(*args[1]).builtin; clock && clock->id == Fn::Nsecs)
        if (auto* call = std::get_if<Call>(&args[1]->node);
            call && !call->args.empty() && word_of(*call->args[0]) == "monotonic")
          error(args[1]->span, "strftime() cannot place a time of the monotonic clock")
              .with_hint("use nsecs or nsecs(tai)");
      return simple_type(Kind::Timestamp, kTimestampSize);
    case Fn::ContainerOf: return kernel_functions_.container_type(args);
    case Fn::SocketCookie:
      if (!arguments_.points_to(first, "struct sock") && !is(first, Kind::Unknown))
        error(args[0]->span,
              fmt::format("socket_cookie() takes a 'struct sock *', found '{}'", type_name(first)));
      return int_type(8, false);
    case Fn::Path: return kernel_functions_.path_type(expr, args);
    case Fn::PercpuKaddr: return kernel_functions_.percpu_type(args);
    case Fn::Uaddr: return kernel_functions_.uaddr_type(expr, args);
    case Fn::Skboutput: return kernel_functions_.skboutput_type(args);
    default: UNREACHABLE("a builtin whose type is not known");
  }
}

}  // namespace flowtap
