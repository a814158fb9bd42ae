#pragma once
// Chart: the frame of a picture, with its axes, ticks and labels.

#include <cstdint>
#include <string>
#include <vector>

#include "plot/svg.h"

namespace flowtap {

// From values to pixels. A logarithmic one holds positive values only; what is not is put at its
// low end.
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;  // pixels of both ends
  bool is_log = false;

  double at(double value) const;
  std::vector<double> ticks() const;
};

// Room for all values from `low` to `high`: logarithmic when they span more than two decades.
Axis axis_for(double low, double high);

struct Panel {
  double left, top, width, height;
};

struct TimeRange {
  uint64_t first_ns = 0, last_ns = 0;
};

class Chart {
 public:
  Chart(Svg& svg, Panel panel, TimeRange time, Axis values);

  double x(uint64_t ns) const;
  double y(double value) const { return values_.at(value); }
  const Axis& values() const { return values_; }
  const Panel& panel() const { return panel_; }

  void frame(const std::string& title, const std::string& value_label);
  // A second scale at the right side.
  void right_axis(const Axis& axis, const std::string& label);

 private:
  void time_axis();
  double seconds(uint64_t ns) const;

  Svg& svg_;
  Panel panel_;
  TimeRange range_;
  Axis time_;
  Axis values_;
};

// 1500 -> "1500", 0.25 -> "0.25", 2000000 -> "2M".
std::string short_number(double value);
// "12:54:29.123", local time.
std::string clock_text(uint64_t ns);

inline constexpr const char* kRed = "#d62728";
inline constexpr const char* kBlue = "#1f77b4";
// Others, in this order.
const char* colour(size_t number);

}  // namespace flowtap
