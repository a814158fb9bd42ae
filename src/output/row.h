#pragma once
// A row of a table, as its record brought it, and the text of one cell.

#include <span>
#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/table.h"

namespace flowtap {

struct Row {
  const Table& table;
  std::span<const Field> fields;  // in step with the columns; offsets from the start of the record
  Bytes record;
};

// For people: local time, durations rounded, control characters made visible. For programs: ISO
// time in UTC, exact numbers, text as it is.
enum class CellStyle : uint8_t { People, Programs };

// True when what was appended is a number.
bool append_cell(std::string& out, const Row& row, size_t column, const ValueContext& context,
                 CellStyle style);

// {"time": "2026-11-15T04:23:24.000000000Z", "pid": 7}\n
void append_row_json(std::string& out, const Row& row, const ValueContext& context);

}  // namespace flowtap
