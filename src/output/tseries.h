#pragma once
// Time series: a plot with time running down, and the points by themselves.

#include <string>
#include <vector>

#include "base/bytes.h"
#include "output/scalar.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

// Lines, each with its newline; nothing when no interval has data.
void append_tseries(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

struct SeriesPoint {
  std::string start;  // 2026-11-15T04:23:24.000000000
  Scalar value;
};
// Of the intervals with data.
std::vector<SeriesPoint> series_points(const Type& type, Bytes bytes, const ValueContext& context);

}  // namespace flowtap
