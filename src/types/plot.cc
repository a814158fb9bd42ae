// Kinds of plots, and the columns that they draw.

#include "types/plot.h"

#include <array>

namespace flowtap {

static constexpr std::array<PlotKindRow, 3> kPlotKinds = {{
    {PlotKind::Scatter, "scatter", false, false},
    {PlotKind::Heat, "heat", true, false},
    {PlotKind::Lines, "lines", false, true},
}};

std::span<const PlotKindRow> all_plot_kinds() { return kPlotKinds; }

const PlotKindRow* find_plot_kind(std::string_view word) {
  for (const PlotKindRow& row : kPlotKinds)
    if (row.word == word) return &row;
  return nullptr;
}

static int find_column(const Table& table, const std::string& name) {
  for (size_t i = 0; i < table.columns.size(); i++)
    if (table.columns[i].name == name) return static_cast<int>(i);
  return -1;
}

static bool is_number(const Column& column) {
  ColumnValue value = column_kind(column.kind).value;
  return value == ColumnValue::Integer || value == ColumnValue::Number;
}

std::optional<PlotColumns> find_columns(const PlotSpec& spec, const Table& table) {
  PlotColumns found;
  for (size_t i = 0; i < table.columns.size() && found.time < 0; i++)
    if (table.columns[i].kind == ColumnKind::Time) found.time = static_cast<int>(i);
  if (found.time < 0) found.time = find_column(table, "ELAPSED");
  if (found.time < 0) return std::nullopt;
  for (const std::string& name : spec.values) {
    int column = find_column(table, name);
    if (column < 0 || !is_number(table.columns[static_cast<size_t>(column)])) return std::nullopt;
    found.values.push_back(static_cast<size_t>(column));
  }
  for (const std::string& name : spec.by) {
    found.by.push_back(find_column(table, name));
    if (found.by.back() < 0) return std::nullopt;
  }
  found.mark = find_column(table, spec.mark);
  if (found.mark < 0 && !spec.mark.empty()) return std::nullopt;
  return found;
}

}  // namespace flowtap
