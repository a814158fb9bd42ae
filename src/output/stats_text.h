#pragma once
// Stats values: count, average and total side by side.

#include <string>

#include "base/bytes.h"
#include "output/scalar.h"
#include "types/type.h"

namespace flowtap {

// { .count = 2, .average = 4, .total = 9 }; `div` divides the average only.
void append_stats(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

struct StatsNumbers {
  Scalar count, average, total;
};
StatsNumbers stats_of(const Type& type, Bytes bytes, uint64_t div = 1);

}  // namespace flowtap
