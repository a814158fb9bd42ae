#pragma once
// What was gathered for a picture.

#include <cstdint>
#include <string>
#include <vector>

namespace flowtap {

struct PlotPoint {
  uint64_t ns = 0;    // since 1970
  double value = 0;   // in the unit of the axis
  std::string title;  // what pointing at it shows
};

struct PlotCell {
  uint64_t from_ns = 0, to_ns = 0;
  double low = 0, high = 0;
  uint64_t count = 0;
};

// One colour of a scatter plot, one picture of lines or of a heat map.
struct PlotGroup {
  std::string name;
  std::vector<std::vector<PlotPoint>> values;  // in step with PlotSpec::values
  std::vector<PlotPoint> marks;
  std::vector<PlotCell> cells;
  uint64_t rows = 0;
};

struct PlotData {
  std::string title;
  std::vector<std::string> headings;  // in step with PlotSpec::values, with their units
  std::string unit;                   // of a heat map's values
  std::vector<PlotGroup> groups;
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  uint64_t left_out = 0;  // rows beyond what a picture can hold
};

}  // namespace flowtap
