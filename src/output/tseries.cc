// Time series. Ways in: append_tseries(), append_tseries_json().
//
//                      4                                                   6
//   hh:mm:ss.ns        |___________________________________________________|
//   04:23:23.000000000 |                         *                         | 5
//                      v___________________________________________________v
//                      4                                                   6
//
// The value bytes are a ring of buckets (types/layout.h). A bucket whose interval is too old to
// belong to the window that ends with the newest one was simply never overwritten: it is left out.

#include "output/tseries.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "output/json_string.h"
#include "output/scalar.h"
#include "output/time_format.h"

namespace flowtap {

static constexpr size_t kPlotWidth = 51;  // between the two borders
namespace {

struct Point {
  uint64_t epoch = 0;
  Scalar value;
};

// How much of a second the labels show, and how that reads in the heading.
struct Resolution {
  const char* heading;
  uint32_t digits;
};

struct Scale {
  Scalar low, high;
};

}  // namespace

static std::vector<Point> points_of(const Type& type, Bytes bytes) {
  std::vector<Point> points;
  uint64_t newest = 0;
  for (uint32_t i = 0; i < type->intervals; i++) {
    Bytes bucket = bytes.subspan(i * kTseriesBucketSize, kTseriesBucketSize);
    uint64_t count = load<uint64_t>(bucket, kTseriesCount);
    if (count == 0) continue;
    Scalar value{load<uint64_t>(bucket, kTseriesValue), type->is_signed};
    if (type->agg == TseriesAgg::Avg) value = divide(value, count);
    points.push_back({load<uint64_t>(bucket), value});
    newest = std::max(newest, points.back().epoch);
  }
  std::erase_if(points,
                [&](const Point& point) { return newest - point.epoch >= type->intervals; });
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.epoch < b.epoch; });
  return points;
}

static uint64_t start_of(uint64_t epoch, const Type& type, const ValueContext& context) {
  uint64_t ns = epoch * static_cast<uint64_t>(type->interval);
  return context.symbolizer.unix_time(ns, kTseriesClock);
}

// A lone point does not tell how far apart its neighbours would be, so it gets every digit.
static Resolution resolution_of(const Type& type, size_t points) {
  int64_t interval = type->interval;
  if (points < 2) return {"hh:mm:ss.ns", 9};
  if (interval >= 1'000'000'000) return {"hh:mm:ss", 0};
  if (interval >= 1'000'000) return {"hh:mm:ss.ms", 3};
  return interval >= 1000 ? Resolution{"hh:mm:ss.us", 6} : Resolution{"hh:mm:ss.ns", 9};
}

static void append_label(std::string& out, uint64_t ns, const char* format, uint32_t digits) {
  append_time(out, ns, format);
  if (digits > 0) out.append(".").append(fmt::format("{:09}", ns % kSecond).substr(0, digits));
}

// A flat series is given room on both sides, or it would have no middle to stand in.
static Scale scale_of(const std::vector<Point>& points) {
  auto is_lower = [](const Point& a, const Point& b) {
    return order_of(a.value) < order_of(b.value);
  };
  auto [low, high] = std::minmax_element(points.begin(), points.end(), is_lower);
  Scale scale{low->value, high->value};
  if (scale.low != scale.high) return scale;
  // Below an unsigned 0 there is room only with a sign.
  bool is_signed = scale.low.is_signed || scale.low.bits == 0;
  scale.low.is_signed = scale.high.is_signed = is_signed;
  if (order_of(scale.low) > 0) scale.low.bits--;
  if (order_of(scale.high) < UINT64_MAX) scale.high.bits++;
  return scale;
}

static size_t column_of(Scalar value, const Scale& scale) {
  double range = static_cast<double>(scale.high.bits - scale.low.bits);
  double share = static_cast<double>(value.bits - scale.low.bits) / range;
  return std::min(kPlotWidth - 1, static_cast<size_t>(share * (kPlotWidth - 1)));
}

static void append_scale(std::string& out, const Scale& scale, size_t indent) {
  std::string low, high;
  append_number(low, scale.low);
  append_number(high, scale.high);
  fmt::format_to(std::back_inserter(out), "{:{}}{}{:>{}}\n", "", indent, low, high,
                 kPlotWidth + 2 - low.size());
}

static void append_border(std::string& out, std::string_view label, size_t indent, char corner) {
  fmt::format_to(std::back_inserter(out), "{:<{}}{}{:_<{}}{}\n", label, indent, corner, "",
                 kPlotWidth, corner);
}

static void append_row(std::string& out, const Scale& scale, const std::optional<Scalar>& value) {
  std::string plot(kPlotWidth, ' ');
  if (scale.low.is_negative() && !scale.high.is_negative() && scale.high.bits != 0)
    plot[column_of({0, true}, scale)] = '.';
  if (value) plot[column_of(*value, scale)] = '*';
  out.append(" |").append(plot).append("| ");
  if (value)
    append_number(out, *value);
  else
    out += '-';
  out += '\n';
}

void append_tseries(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  std::vector<Point> points = points_of(type, bytes);
  if (points.empty()) return;
  Scale scale = scale_of(points);
  Resolution resolution = resolution_of(type, points.size());
  size_t indent = sizeof("hh:mm:ss") + (resolution.digits ? resolution.digits + 1 : 0);

  append_scale(out, scale, indent);
  append_border(out, resolution.heading, indent, '|');
  // Counting rows rather than epochs: the newest epoch may be the last there is.
  uint64_t first = points.front().epoch;
  uint64_t rows = points.back().epoch - first + 1;
  auto point = points.begin();
  for (uint64_t row = 0; row < rows; row++) {
    append_label(out, start_of(first + row, type, context), "%H:%M:%S", resolution.digits);
    bool has_data = point->epoch == first + row;
    append_row(out, scale, has_data ? std::optional(point->value) : std::nullopt);
    while (point != points.end() && point->epoch == first + row) point++;
  }
  append_border(out, "", indent, 'v');
  append_scale(out, scale, indent);
}

std::vector<SeriesPoint> series_points(const Type& type, Bytes bytes, const ValueContext& context) {
  std::vector<SeriesPoint> points;
  for (const Point& point : points_of(type, bytes)) {
    points.push_back({.value = point.value});
    append_label(points.back().start, start_of(point.epoch, type, context), "%Y-%m-%dT%H:%M:%S", 9);
  }
  return points;
}

}  // namespace flowtap
