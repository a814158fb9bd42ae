#pragma once
// Whether a script has what the PLOT line of its head wants to draw.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plot/plot_spec.h"
#include "types/table.h"

namespace flowtap {

// Where a table has what is drawn; numbers of columns.
struct PlotColumns {
  int time = -1;  // the first of kind time, or ELAPSED
  std::vector<int> by;
  int mark = -1;
  std::vector<size_t> values;
};

// Nothing when the table lacks one of them.
std::optional<PlotColumns> find_columns(const PlotSpec& spec, const Table& table);

struct PlotMap {
  std::string name;  // "@usecs"
  Type value;        // null when no part of the script that is used fills it
};

Status check_plot(const PlotSpec& spec, std::span<const Table> tables,
                  std::span<const PlotMap> maps);

// The kinds of pictures, by the end of their file's name.
bool is_svg(const std::string& file);
Status check_plot_file(const std::string& file);

}  // namespace flowtap
