#pragma once
// What a tool can draw: the line PLOT of its head.
//
//   scatter LAT by DIR                            a point per row, coloured by a column
//   heat LAT                                      how many rows, by time and value
//   heat @usecs us                                the same from histograms that are printed, in
//                                                 this unit
//   lines CWND SNDBUF by LADDR LPORT mark EVENT retrans
//                                                 values over time, a panel for each value of the
//                                                 columns, rows of EVENT "retrans" as marks

#include <optional>
#include <string>
#include <vector>

namespace flowtap {

enum class PlotKind { Scatter, Heat, Lines };

struct PlotSpec {
  PlotKind kind = PlotKind::Scatter;
  std::vector<std::string> values;  // columns, or one map
  std::string unit;                 // of a map
  std::vector<std::string> by;      // columns; none: all are one
  std::string mark, marked;         // column, and its value in rows that are marks

  bool is_of_map() const { return values[0].starts_with('@'); }
};

// Nothing when it cannot be understood.
std::optional<PlotSpec> parse_plot(const std::string& text);

}  // namespace flowtap
