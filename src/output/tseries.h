#pragma once
// Time series: a plot with time running down, or a JSON list.

#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

// Lines, each with its newline; nothing when no interval has data.
void append_tseries(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

// [{"interval_start":"2026-11-15T04:23:24.000000000","value":5}], intervals with data only.
void append_tseries_json(std::string& out, const Type& type, Bytes bytes,
                         const ValueContext& context);

// A line for each interval with data: `entry`, then its start and its value.
void append_tseries_csv(std::string& out, const std::string& entry, const Type& type, Bytes bytes,
                        const ValueContext& context);

}  // namespace flowtap
