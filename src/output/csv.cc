// CSV lines. Ways in: append_csv_row(), append_csv_map(). Lines end with a newline alone, as text
// does here; readers of RFC 4180 take both.

#include "output/csv.h"

#include <initializer_list>

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

namespace {

// The value of an entry: a cell, or whole lines, each beginning with the cells of its entry.
class CsvEntry : public TextValues {
 public:
  CsvEntry(std::string& cell, std::string& lines, const std::string& entry,
           const ValueContext& context)
      : TextValues(cell, context, TextStyle::Compact), lines_(lines), entry_(entry) {}
  bool has_lines() const { return has_lines_; }

 private:
  void stats(const Type& type, Bytes bytes, uint64_t div) override {
    StatsNumbers stats = stats_of(type, bytes, div);
    line({stats.count, stats.average, stats.total});
  }
  // The ends of open buckets are left empty.
  void histogram(const Type& type, Bytes bytes, uint64_t div) override {
    has_lines_ = true;
    for (const CountedBucket& bucket : counted_buckets(type, bytes, div))
      line({bucket.min, bucket.max, bucket.count});
  }
  void series(const Type& type, Bytes bytes) override {
    has_lines_ = true;
    for (const SeriesPoint& point : series_points(type, bytes, context_)) {
      lines_.append(entry_).append(",").append(point.start).append(",");
      append_number(lines_, point.value);
      lines_ += '\n';
    }
  }
  void line(std::initializer_list<std::optional<Scalar>> numbers) {
    has_lines_ = true;
    lines_ += entry_;
    for (const std::optional<Scalar>& number : numbers) {
      lines_ += ',';
      if (number) append_number(lines_, *number);
    }
    lines_ += '\n';
  }

  std::string& lines_;
  const std::string& entry_;
  bool has_lines_ = false;
};

}  // namespace

static void append_value(std::string& out, const std::string& entry, const MapContent& map,
                         Bytes value, const ValueContext& context) {
  std::string cell;
  CsvEntry printer(cell, out, entry, context);
  printer.visit_entry(map, value);
  if (printer.has_lines()) return;
  quote_cell(cell, 0);
  out.append(entry).append(",").append(cell).append("\n");
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
