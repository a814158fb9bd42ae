#pragma once
// Stats values: count, average and total side by side.

#include <string>

#include "base/bytes.h"
#include "types/type.h"

namespace flowtap {

// { .count = 2, .average = 4, .total = 9 }; `div` divides the average only.
void append_stats(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

// {"count": 2, "average": 4, "total": 9}
void append_stats_json(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

// `entry`, then count, average and total: one line.
void append_stats_csv(std::string& out, const std::string& entry, const Type& type, Bytes bytes,
                      uint64_t div = 1);

}  // namespace flowtap
