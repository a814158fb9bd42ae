// CSV lines. Ways in: append_csv_row(), append_csv_map(). Lines end with a newline alone, as text
// does here; readers of RFC 4180 take both.

#include "output/csv.h"

#include "output/decode.h"
#include "output/histogram.h"
#include "output/scalar.h"
#include "output/stats_text.h"
#include "output/tseries.h"
#include "output/value_text.h"

namespace flowtap {

void quote_cell(std::string& out, size_t start) {
  if (out.find_first_of(",\"\r\n", start) == std::string::npos) return;
  for (size_t i = start; (i = out.find('"', i)) != std::string::npos; i += 2) out.insert(i, 1, '"');
  out.insert(start, 1, '"');
  out += '"';
}

void quote_only_cell(std::string& out, size_t start) {
  if (out.size() == start)
    out += "\"\"";
  else
    quote_cell(out, start);
}

void append_csv_heading(std::string& out, const Table& table) {
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) out += ',';
    size_t start = out.size();
    out += column.key;
    quote_cell(out, start);
  }
  out += '\n';
}

void append_csv_row(std::string& out, const Row& row, const ValueContext& context) {
  for (size_t i = 0; i < row.table.columns.size(); i++) {
    if (i > 0) out += ',';
    size_t start = out.size();
    append_cell(out, row, i, context, CellStyle::Programs);
    row.table.columns.size() == 1 ? quote_only_cell(out, start) : quote_cell(out, start);
  }
  out += '\n';
}

static const char* value_columns(const Type& value) {
  switch (value->kind) {
    case Kind::Hist:
    case Kind::Lhist: return ",min,max,count\n";
    case Kind::Stats: return ",count,average,total\n";
    case Kind::Tseries: return ",interval_start,value\n";
    default: return ",value\n";
  }
}

std::string csv_map_heading(const MapContent& map) {
  std::string out = "map";
  if (map.key && is(map.key, Kind::Tuple))
    for (size_t i = 0; i < map.key->fields.size(); i++) out += ",key" + std::to_string(i + 1);
  else if (map.key)
    out += ",key";
  return out + value_columns(map.value);
}

static void append_text_cell(std::string& out, const Type& type, Bytes bytes,
                             const ValueContext& context) {
  out += ',';
  size_t start = out.size();
  append_text(out, type, bytes, context, TextStyle::Compact);
  quote_cell(out, start);
}

static void append_key_cells(std::string& out, const Type& key, Bytes bytes,
                             const ValueContext& context) {
  if (!is(key, Kind::Tuple)) return append_text_cell(out, key, bytes, context);
  for (const Field& field : key->fields)
    append_text_cell(out, field.type, field_bytes(field, bytes), context);
}

static void append_value(std::string& out, const std::string& entry, const MapContent& map,
                         Bytes value, const ValueContext& context) {
  switch (map.value->kind) {
    case Kind::Hist:
    case Kind::Lhist: return append_histogram_csv(out, entry, map.value, value, map.div);
    case Kind::Tseries: return append_tseries_csv(out, entry, map.value, value, context);
    case Kind::Stats: return append_stats_csv(out, entry, map.value, value, map.div);
    default: break;
  }
  out += entry;
  bool is_divisible =
      is(map.value, Kind::Int) || (map.value->kind >= Kind::Count && map.value->kind <= Kind::Avg);
  if (is_divisible) {
    out += ',';
    append_number(out, divide(*scalar_of(map.value, value), map.div));
  } else {
    append_text_cell(out, map.value, value, context);
  }
  out += '\n';
}

void append_csv_map(std::string& out, const MapContent& map, const ValueContext& context) {
  std::string entry;  // the cells that all lines of one entry begin with
  for (const MapEntry& one : sorted_entries(map)) {
    entry = map.name;
    if (map.key) append_key_cells(entry, map.key, one.key, context);
    append_value(out, entry, map, one.value, context);
  }
}

}  // namespace flowtap
