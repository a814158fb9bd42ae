// Axes and frames.

#include "plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/clock.h"
#include "output/time_format.h"

namespace flowtap {

static constexpr const char* kGrid = "stroke:#ddd;stroke-width:1";

double Axis::at(double value) const {
  double share = is_log ? (std::log10(std::max(value, low)) - std::log10(low)) /
                              (std::log10(high) - std::log10(low))
                        : (value - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  if (is_log) {
    int first = static_cast<int>(std::ceil(std::log10(low)));
    int last = static_cast<int>(std::floor(std::log10(high * 1.0001)));
    for (int power = first; power <= last; power++) ticks.push_back(std::pow(10, power));
    return ticks;
  }
  double step = std::pow(10, std::floor(std::log10((high - low) / 5)));
  for (double factor : {5.0, 2.0})  // at most ten of them
    if ((high - low) / (step * factor) >= 4) {
      step *= factor;
      break;
    }
  int64_t first = static_cast<int64_t>(std::ceil(low / step));
  int64_t last = static_cast<int64_t>(std::floor(high / step + 0.001));
  for (int64_t i = first; i <= last; i++) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

Axis axis_for(double low, double high) {
  Axis axis;
  if (low > 0 && high / low > 100) {
    axis.is_log = true;
    axis.low = std::pow(10, std::floor(std::log10(low)));
    axis.high = std::pow(10, std::ceil(std::log10(high)));
  } else {
    axis.low = std::min(low, 0.0);
    axis.high = high > axis.low ? high + (high - axis.low) * 0.05 : axis.low + 1;
  }
  return axis;
}

Chart::Chart(Svg& svg, Panel panel, TimeRange time, Axis values)
    : svg_(svg), panel_(panel), range_(time), values_(values) {
  time_.high = std::max(seconds(time.last_ns), 0.001);
  time_.from = panel.left;
  time_.to = panel.left + panel.width;
  values_.from = panel.top + panel.height;
  values_.to = panel.top;
}

double Chart::seconds(uint64_t ns) const {
  return static_cast<double>(ns - range_.first_ns) / kSecond;
}

double Chart::x(uint64_t ns) const { return time_.at(seconds(std::max(ns, range_.first_ns))); }

void Chart::time_axis() {
  double bottom = panel_.top + panel_.height;
  for (double tick : time_.ticks()) {
    double x = time_.at(tick);
    svg_.line(x, panel_.top, x, bottom, kGrid);
    svg_.text(x, bottom + 16, Align::Middle, short_number(tick));
  }
  std::string day;
  append_time(day, range_.first_ns, "%Y-%m-%d");
  svg_.text(panel_.left + panel_.width / 2, bottom + 34, Align::Middle,
            fmt::format("seconds from {} {}", day, clock_text(range_.first_ns)));
}

void Chart::frame(const std::string& title, const std::string& value_label) {
  for (double tick : values_.ticks()) {
    double y = values_.at(tick);
    svg_.line(panel_.left, y, panel_.left + panel_.width, y, kGrid);
    svg_.text(panel_.left - 6, y + 4, Align::Right, short_number(tick));
  }
  time_axis();
  svg_.box(panel_.left, panel_.top, panel_.width, panel_.height, "fill:none;stroke:#888");
  svg_.text(panel_.left, panel_.top - 24, Align::Left, title, "font-size:14px;font-weight:bold");
  svg_.text(panel_.left - 60, panel_.top - 8, Align::Left, value_label);
}

void Chart::right_axis(const Axis& axis, const std::string& label) {
  double right = panel_.left + panel_.width;
  for (double tick : axis.ticks()) {
    double y = axis.at(tick);
    svg_.line(right, y, right + 4, y, "stroke:#888");
    svg_.text(right + 8, y + 4, Align::Left, short_number(tick));
  }
  svg_.text(right + 60, panel_.top - 8, Align::Right, label);
}

std::string short_number(double value) {
  if (std::abs(value) >= 1e9) return fmt::format("{:g}G", value / 1e9);
  if (std::abs(value) >= 1e6) return fmt::format("{:g}M", value / 1e6);
  return fmt::format("{:g}", value);
}

std::string clock_text(uint64_t ns) {
  std::string text;
  append_time(text, ns, "%H:%M:%S");
  return fmt::format("{}.{:03}", text, ns % kSecond / 1'000'000);
}

const char* colour(size_t number) {
  constexpr std::array<const char*, 6> kColours = {"#2ca02c", "#ff7f0e", "#9467bd",
                                                   "#8c564b", "#17becf", "#7f7f7f"};
  return kColours[number % kColours.size()];
}

}  // namespace flowtap
