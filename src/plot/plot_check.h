#pragma once
// Whether what a script's plot draws is there with these options.

#include <span>
#include <string>

#include "base/result.h"
#include "types/plot.h"

namespace flowtap {

struct PlotMap {
  std::string name;  // "@usecs"
  Type value;        // null when no part of the script that is used fills it
};

Status check_plot(const PlotSpec& spec, std::span<const PlotMap> maps);

// The kinds of pictures, by the end of their file's name.
bool is_svg(const std::string& file);
Status check_plot_file(const std::string& file);

}  // namespace flowtap
