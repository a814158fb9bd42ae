#pragma once
// CSV after RFC 4180: commas between cells, quotes where a cell needs them.

#include <string>

#include "output/map_order.h"
#include "output/row.h"
#include "output/symbolizer.h"

namespace flowtap {

// Puts what is in `out` from `start` on into quotes if it holds a comma, a quote or a line end.
void quote_cell(std::string& out, size_t start);
// The same for the only cell of a line, which gets quotes when it is empty too: an empty line parts
// blocks.
void quote_only_cell(std::string& out, size_t start);

void append_csv_heading(std::string& out, const Table& table);
void append_csv_row(std::string& out, const Row& row, const ValueContext& context);

// "map,key,value", with the columns that this map's keys and values need.
std::string csv_map_heading(const MapContent& map);
void append_csv_map(std::string& out, const MapContent& map, const ValueContext& context);

}  // namespace flowtap
