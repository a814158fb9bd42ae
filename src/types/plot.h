#pragma once
// What a script can draw: its plot declaration.
//
//   plot scatter LAT by OP;                       a point per row, coloured by a column
//   plot heat LAT;                                how many rows, by time and value
//   plot heat @usecs in us;                       the same from histograms that are printed, in
//                                                 this unit
//   plot lines CWND, SNDBUF by LADDR, LPORT mark EVENT "retrans";
//                                                 values over time, a panel for each value of the
//                                                 columns, rows of EVENT "retrans" as marks

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/table.h"

namespace flowtap {

enum class PlotKind : uint8_t { Scatter, Heat, Lines };

struct PlotKindRow {
  PlotKind kind;
  std::string_view word;
  bool takes_map;
  bool takes_several;  // columns
};

std::span<const PlotKindRow> all_plot_kinds();
const PlotKindRow* find_plot_kind(std::string_view word);

struct PlotSpec {
  PlotKind kind = PlotKind::Scatter;
  std::vector<std::string> values;  // columns, or one map
  std::string unit;                 // of a map
  std::vector<std::string> by;      // columns; none: all are one
  std::string mark, marked;         // column, and its value in rows that are marks

  bool is_of_map() const { return values[0].starts_with('@'); }
};

// Where a table has what is drawn; numbers of columns.
struct PlotColumns {
  int time = -1;  // the first of kind time, or ELAPSED
  std::vector<int> by;
  int mark = -1;
  std::vector<size_t> values;
};

// Nothing when the table lacks one of them.
std::optional<PlotColumns> find_columns(const PlotSpec& spec, const Table& table);

}  // namespace flowtap
