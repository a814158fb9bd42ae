#pragma once
// The one number that an integer or a simple aggregation stands for: what is printed, divided
// and sorted by.

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "types/type.h"

namespace flowtap {

struct Scalar {
  uint64_t bits = 0;
  bool is_signed = false;

  bool is_negative() const { return is_signed && static_cast<int64_t>(bits) < 0; }
  bool operator==(const Scalar&) const = default;
};

// Int, Enum, Bool, Pointer, KSym; Count, Sum, Min, Max, Avg, and the average of Stats.
// Nothing for kinds that are not a number. Aggregations must be merged over CPUs already.
std::optional<Scalar> scalar_of(const Type& type, Bytes bytes);

// Total divided by count, as sign demands; 0 when nothing was counted.
Scalar average_of(int64_t total, uint64_t count, bool is_signed);

// Division by 0 leaves the number as it is.
Scalar divide(Scalar number, uint64_t by);

// A key that orders numbers of one type by unsigned comparison.
uint64_t order_of(Scalar number);

void append_number(std::string& out, Scalar number);

}  // namespace flowtap
