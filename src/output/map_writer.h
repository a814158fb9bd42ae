#pragma once
// A whole map: its entries in printing order, as text or JSON.

#include <string>

#include "output/map_order.h"
#include "output/symbolizer.h"

namespace flowtap {

// "@x[1, a]: 5\n" for each entry; histograms and series on lines of their own, then an empty one.
void append_map(std::string& out, const MapContent& map, const ValueContext& context);

// {"type": "map", "data": {"@x": {"1,a": 5}}}\n; nothing for an empty keyed map.
void append_map_json(std::string& out, const MapContent& map, const ValueContext& context);

}  // namespace flowtap
