#pragma once
// Values as JSON.

#include <string>

#include "base/bytes.h"
#include "output/map_order.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

// [{"min": 4, "max": 7, "count": 1}], with both ends inclusive and open ends left out.
void append_histogram_json(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);
// {"count": 2, "average": 4, "total": 9}
void append_stats_json(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);
// [{"interval_start":"2026-11-15T04:23:24.000000000","value":5}], intervals with data only.
void append_tseries_json(std::string& out, const Type& type, Bytes bytes,
                         const ValueContext& context);

void append_json(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

// What a map's entry stands for, divided by the map's `div`.
void append_json_entry(std::string& out, const MapContent& map, Bytes value,
                       const ValueContext& context);

// The name of an object's member: the value's compact text, quoted.
void append_json_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

}  // namespace flowtap
