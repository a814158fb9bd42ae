// Gathering. Ways in: row() and map() for what a session writes, finish() at its end.

#include "plot/plot_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "output/decode.h"
#include "output/scalar.h"
#include "output/stack.h"
#include "output/value_text.h"
#include "plot/draw.h"

namespace flowtap {

// More would make a page that no browser likes; what is left out is counted.
static constexpr uint64_t kMostPoints = 200'000;
// "No limit yet" of the kernel: a slow start threshold of 2^31 - 1 would flatten everything else.
static constexpr uint64_t kUnlimited = 0x7fffffff;

static double scale_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Us: return 1e3;
    case ColumnKind::Ms: return 1e6;
    case ColumnKind::Sec: return 1e9;
    default: return 1;
  }
}

PlotWriter::PlotWriter(PlotSpec spec, std::string title, const ValueContext& context)
    : spec_(std::move(spec)),
      context_(context),
      made_ns_(clock_ns(CLOCK_REALTIME)),
      reported_ns_(made_ns_) {
  data_.title = std::move(title);
  data_.headings = spec_.values;
  data_.unit = spec_.unit;
  if (spec_.is_of_map()) data_.headings = {spec_.unit};
}

void PlotWriter::attached_probes(uint64_t) { reported_ns_ = clock_ns(CLOCK_REALTIME); }

// The first table that has all the columns.
bool PlotWriter::choose(const Table& table) {
  if (table_) return table_ == &table;
  std::optional<PlotColumns> found = find_columns(spec_, table);
  if (!found) return false;
  data_.headings.clear();
  for (size_t column : found->values) {
    const Column& about = table.columns[column];
    bool says_bytes = about.kind == ColumnKind::Size;
    data_.headings.push_back(about.heading + (says_bytes ? "(bytes)" : ""));
    data_.unit = column_kind(about.kind).unit;
  }
  table_ = &table;
  columns_ = std::move(*found);
  return true;
}

PlotGroup& PlotWriter::group(const std::string& name) {
  auto found = std::find_if(data_.groups.begin(), data_.groups.end(),
                            [&](const PlotGroup& group) { return group.name == name; });
  if (found != data_.groups.end()) return *found;
  data_.groups.push_back({.name = name});
  data_.groups.back().values.resize(spec_.values.size());
  return data_.groups.back();
}

std::string PlotWriter::cell(const Row& row, int column) const {
  std::string text;
  if (column >= 0)
    append_cell(text, row, static_cast<size_t>(column), context_, CellStyle::Programs);
  return text;
}

static ColumnKind kind_of(const Row& row, int column) {
  return row.table.columns[static_cast<size_t>(column)].kind;
}

static uint64_t number_of(const Row& row, int column) {
  const Field& field = row.fields[static_cast<size_t>(column)];
  return scalar_of(field.type, field_bytes(field, row.record))->bits;
}

// "127.0.0.1:43104 -> [::1]:80 at 3.031728 s", or the cells with blanks between.
std::string PlotWriter::group_name(const Row& row) const {
  std::string name;
  bool follows_port = false;
  for (size_t i = 0; i < columns_.by.size(); i++) {
    int column = columns_.by[i];
    ColumnKind kind = kind_of(row, column);
    std::string text = cell(row, column);
    if (scale_of(kind) > 1)
      text = fmt::format("at {:.6f} s", static_cast<double>(number_of(row, column)) / 1e9);
    else if (kind == ColumnKind::Ip && text.find(':') != text.npos)
      text = fmt::format("[{}]", text);
    bool is_port_of_address =
        kind == ColumnKind::Port && i > 0 && kind_of(row, columns_.by[i - 1]) == ColumnKind::Ip;
    bool is_other_end = kind == ColumnKind::Ip && follows_port;
    const char* between = is_port_of_address ? ":" : is_other_end ? " -> " : " ";
    name += (name.empty() ? "" : between) + text;
    follows_port = is_port_of_address;
  }
  return name;
}

// Every cell on a line of its own, but for stacks.
std::string PlotWriter::title_of(const Row& row) const {
  std::string title;
  for (size_t i = 0; i < row.table.columns.size(); i++) {
    if (column_kind(row.table.columns[i].kind).is_stack()) continue;
    title += title.empty() ? "" : "\n";
    title += row.table.columns[i].heading + " " + cell(row, static_cast<int>(i));
  }
  return title;
}

void PlotWriter::row(const Row& row) {
  if (spec_.is_of_map() || !choose(row.table)) return;
  if (points_++ >= kMostPoints) {
    data_.left_out++;
    return;
  }
  auto number = [&](size_t column) {
    return *scalar_of(row.fields[column].type, field_bytes(row.fields[column], row.record));
  };
  uint64_t stamp = number(static_cast<size_t>(columns_.time)).bits;
  bool is_clock = row.table.columns[static_cast<size_t>(columns_.time)].kind == ColumnKind::Time;
  uint64_t ns = is_clock ? context_.symbolizer.unix_time(stamp, Clock::Boot) : made_ns_ + stamp;
  data_.first_ns = std::min(data_.first_ns, ns);
  data_.last_ns = std::max(data_.last_ns, ns);
  PlotGroup& to = group(group_name(row));
  to.rows++;
  std::string title = title_of(row);
  if (columns_.mark >= 0 && cell(row, columns_.mark) == spec_.marked)
    to.marks.push_back({ns, 0, title});
  for (size_t i = 0; i < columns_.values.size(); i++) {
    Scalar value = number(columns_.values[i]);
    if (value.bits == kUnlimited) continue;
    ColumnKind kind = row.table.columns[columns_.values[i]].kind;
    double shown = value.is_negative() ? static_cast<double>(static_cast<int64_t>(value.bits))
                                       : static_cast<double>(value.bits);
    to.values[i].push_back({ns, shown / scale_of(kind), title});
  }
}

void PlotWriter::map(const MapContent& map) {
  if (!spec_.is_of_map() || map.name != spec_.values[0]) return;
  bool is_hist = is(map.value, Kind::Hist), is_lhist = is(map.value, Kind::Lhist);
  if (!is_hist && !is_lhist) return;
  uint64_t now = clock_ns(CLOCK_REALTIME);
  uint64_t from = std::exchange(reported_ns_, now);
  data_.first_ns = std::min(data_.first_ns, from);
  data_.last_ns = std::max(data_.last_ns, now);
  for (const MapEntry& entry : map.entries) {
    std::string name;
    // A picture per stack would be too many, and their names too long.
    if (map.key && !has_stack(map.key)) append_text(name, map.key, entry.key, context_);
    PlotGroup& to = group(name);
    for (uint32_t i = 0; i < hist_buckets(*map.value); i++) {
      uint64_t count = load<uint64_t>(entry.value, i * 8ul);
      if (!count) continue;
      BucketRange range = is_hist ? hist_range(i, map.value->bits) : lhist_range(i, *map.value);
      double low = range.is_open_low ? 0 : static_cast<double>(range.low);
      double high = range.is_open_high ? low + static_cast<double>(map.value->step)
                                       : static_cast<double>(range.high);
      to.rows += count;
      auto same = std::find_if(to.cells.begin(), to.cells.end(), [&](const PlotCell& cell) {
        return cell.from_ns == from && cell.low == low;
      });
      if (same == to.cells.end())
        to.cells.push_back({from, now, low, high, count});
      else
        same->count += count;
    }
  }
}

std::string PlotWriter::finish(bool is_page) const {
  std::string svg = draw(spec_, data_);
  return is_page ? html_page(data_.title, svg) : svg;
}

}  // namespace flowtap
