// Checks before tracing starts; see plot_check.h. A typing error in a tool would otherwise give an
// empty picture at its end.

#include "plot/plot_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace flowtap {

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

static Error not_there(const std::string& name, const char* what,
                       const std::vector<std::string>& known) {
  std::optional<std::string> near = nearest(name, known);
  return Error{fmt::format("--plot draws '{}', which is not a {} of this tool", name, what), 0,
               near ? fmt::format("the PLOT line of its head may mean '{}'", *near)
                    : "see the PLOT line of its head"};
}

static Status check_map(const PlotSpec& spec, std::span<const PlotMap> maps) {
  std::vector<std::string> names;
  for (const PlotMap& map : maps) {
    names.push_back(map.name);
    if (map.name != spec.values[0]) continue;
    if (!map.value)
      return Error{
          fmt::format("--plot draws '{}', which is not used with these options", map.name)};
    if (!is(map.value, Kind::Hist) && !is(map.value, Kind::Lhist))
      return Error{fmt::format("--plot draws '{}', which is not a histogram", map.name)};
    return Done{};
  }
  return not_there(spec.values[0], "map", names);
}

Status check_plot(const PlotSpec& spec, std::span<const Table> tables,
                  std::span<const PlotMap> maps) {
  if (spec.is_of_map()) return check_map(spec, maps);
  std::vector<std::string> known;
  for (const Table& table : tables) {
    if (find_columns(spec, table)) return Done{};
    for (const Column& column : table.columns) known.push_back(column.name);
  }
  std::vector<std::string> wanted = spec.values;
  wanted.insert(wanted.end(), spec.by.begin(), spec.by.end());
  if (!spec.mark.empty()) wanted.push_back(spec.mark);
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return not_there(name, "column", known);
  return Error{
      fmt::format("no table of this tool has a time and numbers in {}", join(wanted, ", ")), 0,
      "see the PLOT line of its head"};
}

bool is_svg(const std::string& file) { return file.ends_with(".svg"); }

Status check_plot_file(const std::string& file) {
  if (is_svg(file) || file.ends_with(".html") || file.ends_with(".htm")) return Done{};
  return Error{fmt::format("--plot cannot write '{}'", file), 0,
               "the name must end in .svg (a picture) or .html (a page)"};
}

}  // namespace flowtap
