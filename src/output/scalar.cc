// Numbers out of value bytes; see scalar.h and the drawings in types/type.h.

#include "output/scalar.h"

#include <fmt/format.h>

#include <iterator>

namespace flowtap {

static constexpr uint32_t kCountAt = 8;  // Avg, Stats: the count follows the total

static Scalar stored_integer(const Type& type, Bytes bytes) {
  return {static_cast<uint64_t>(load_int(bytes, type->size, type->is_signed)), type->is_signed};
}

std::optional<Scalar> scalar_of(const Type& type, Bytes bytes) {
  switch (type->kind) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::Enum: return stored_integer(type, bytes);
    case Kind::Pointer:
    case Kind::KSym:
    case Kind::Count: return Scalar{load<uint64_t>(bytes), false};
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max: return Scalar{load<uint64_t>(bytes), type->is_signed};
    case Kind::Avg:
    case Kind::Stats:
      return average_of(load<int64_t>(bytes), load<uint64_t>(bytes, kCountAt), type->is_signed);
    default: return std::nullopt;
  }
}

Scalar average_of(int64_t total, uint64_t count, bool is_signed) {
  return count == 0 ? Scalar{0, is_signed}
                    : divide({static_cast<uint64_t>(total), is_signed}, count);
}

Scalar divide(Scalar number, uint64_t by) {
  if (by <= 1) return number;
  if (!number.is_negative()) return {number.bits / by, number.is_signed};
  // Divide the magnitude: C++ would turn the signed side of a mixed division unsigned.
  return {0 - (0 - number.bits) / by, true};
}

uint64_t order_of(Scalar number) {
  constexpr uint64_t kSignBit = 1ull << 63;
  return number.is_signed ? number.bits ^ kSignBit : number.bits;
}

void append_number(std::string& out, Scalar number) {
  fmt::format_int digits = number.is_signed ? fmt::format_int(static_cast<int64_t>(number.bits))
                                            : fmt::format_int(number.bits);
  out.append(digits.data(), digits.size());
}

}  // namespace flowtap
