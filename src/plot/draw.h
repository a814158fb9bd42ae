#pragma once
// Pictures of what was gathered, as SVG that shows exact values when pointed at.

#include <string>

#include "plot/plot_data.h"
#include "types/plot.h"

namespace flowtap {

std::string draw(const PlotSpec& spec, const PlotData& data);

// The picture as a page that opens from disk, without a network.
std::string html_page(const std::string& title, const std::string& svg);

}  // namespace flowtap
