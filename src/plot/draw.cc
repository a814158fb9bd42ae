// The three kinds of pictures. Way in: draw().

#include "plot/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "plot/chart.h"

namespace flowtap {

namespace {

constexpr double kWidth = 1100, kLeft = 80, kRight = 90, kTop = 70, kBottom = 60;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr size_t kMostPanels = 8;

struct Range {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Axis axis() const { return low > high ? Axis{} : axis_for(low, high); }
};

// Reads are red and writes blue, in whatever words a tool says it.
std::string group_colour(const std::string& name, size_t number) {
  bool is_alone = name.empty();
  if (is_alone || name.starts_with('W') || name.starts_with('w')) return kBlue;
  if (name.starts_with('R') || name.starts_with('r')) return kRed;
  return colour(number);
}

void legend(Svg& svg, double top, size_t number, const std::string& colour,
            const std::string& text) {
  double x = kLeft + 8 + static_cast<double>(number) * 180;
  svg.box(x, top - 40 - 9, 10, 10, "fill:" + colour);
  svg.text(x + 15, top - 40, Align::Left, text);
}

TimeRange range_of(const PlotData& data) {
  if (data.first_ns > data.last_ns) return {0, 1};
  return {data.first_ns, std::max(data.last_ns, data.first_ns + 1)};
}

// What a reader must know besides the picture.
std::string remark(const PlotData& data, size_t hidden_groups) {
  std::string text;
  if (data.first_ns > data.last_ns) text = "nothing happened";
  if (data.left_out) text = fmt::format("{} more rows are not shown", data.left_out);
  if (hidden_groups)
    text +=
        fmt::format("{}{} more pictures are not shown", text.empty() ? "" : "; ", hidden_groups);
  return text;
}

std::vector<const PlotGroup*> largest_first(const PlotData& data) {
  std::vector<const PlotGroup*> groups;
  for (const PlotGroup& group : data.groups) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const PlotGroup* a, const PlotGroup* b) { return a->rows > b->rows; });
  return groups;
}

// --- scatter -------------------------------------------------------------------------

std::string draw_scatter(const PlotData& data) {
  constexpr double kHeight = 520;
  Svg svg(kWidth, kTop + kHeight + kBottom);
  Range range;
  for (const PlotGroup& group : data.groups)
    for (const PlotPoint& point : group.values[0]) range.take(point.value);
  Chart chart(svg, {kLeft, kTop, kPlotWidth, kHeight}, range_of(data), range.axis());
  chart.frame(data.title, data.headings[0]);
  svg.text(kWidth - kRight, kTop - 24, Align::Right, remark(data, 0));
  for (size_t i = 0; i < data.groups.size(); i++) {
    const PlotGroup& group = data.groups[i];
    std::string paint = group_colour(group.name, i);
    if (!group.name.empty())
      legend(svg, kTop, i, paint, fmt::format("{} ({})", group.name, group.values[0].size()));
    // Points that would hide each other become one that says so.
    std::map<std::pair<int, int>, std::pair<const PlotPoint*, size_t>> places;
    for (const PlotPoint& point : group.values[0]) {
      auto& place =
          places[{static_cast<int>(chart.x(point.ns)), static_cast<int>(chart.y(point.value))}];
      if (!place.first) place.first = &point;
      place.second++;
    }
    for (const auto& [pixel, place] : places) {
      const PlotPoint& point = *place.first;
      std::string more =
          place.second > 1 ? fmt::format("\nand {} more here", place.second - 1) : "";
      svg.circle(chart.x(point.ns), chart.y(point.value), paint, point.title + more);
    }
  }
  return svg.finish();
}

// --- heat map ------------------------------------------------------------------------

// White for none, dark red for the most; the root, so that few can still be told from none.
std::string heat(uint64_t count, uint64_t most) {
  double share = std::sqrt(static_cast<double>(count) / static_cast<double>(most));
  return fmt::format("fill:rgb({:.0f},{:.0f},{:.0f})", 255 - 100 * share, 230 * (1 - share),
                     210 * (1 - share));
}

void draw_heat_panel(Svg& svg, const PlotData& data, const PlotGroup& group, Panel panel) {
  Range range;
  uint64_t most = 1;
  bool is_linear = true;  // all cells of one height, as linear histograms have them
  for (const PlotCell& cell : group.cells) {
    range.take(cell.low);
    range.take(cell.high);
    most = std::max(most, cell.count);
    is_linear &= cell.high - cell.low == group.cells[0].high - group.cells[0].low;
  }
  Axis axis = range.axis();
  if (!is_linear) axis = Axis{.low = std::max(range.low, 1.0), .high = range.high, .is_log = true};
  Chart chart(svg, panel, range_of(data), axis);
  for (const PlotCell& cell : group.cells) {
    double x = chart.x(cell.from_ns), y = chart.y(cell.high);
    double end = std::min(chart.x(cell.to_ns), panel.left + panel.width);
    double bottom = std::min(chart.y(cell.low), panel.top + panel.height);
    svg.box(x, y, std::max(end - x, 1.0), std::max(bottom - y, 1.0), heat(cell.count, most),
            fmt::format("{} to {}\n{:g} to {:g} {}\n{}", clock_text(cell.from_ns),
                        clock_text(cell.to_ns), cell.low, cell.high, data.unit, cell.count));
  }
  chart.frame(group.name.empty() ? data.title : fmt::format("{}: {}", data.title, group.name),
              data.headings[0]);
  double right = panel.left + panel.width + 12;
  for (int i = 0; i <= 4; i++) {
    uint64_t count = most * static_cast<uint64_t>(i) / 4;
    if (i > 0 && count == most * static_cast<uint64_t>(i - 1) / 4) continue;
    svg.box(right, panel.top + 80 - i * 16, 14, 14, heat(count, most) + ";stroke:#888");
    svg.text(right + 20, panel.top + 91 - i * 16, Align::Left, fmt::format("{}", count));
  }
}

// Rows become cells: about a hundred columns, powers of two high.
std::vector<PlotCell> cells_of(const std::vector<PlotPoint>& points, TimeRange time) {
  uint64_t span = time.last_ns - time.first_ns + 1;
  uint64_t width = 1'000'000'000;  // a second, or what makes fewer columns
  for (uint64_t factor = 2; span / width > 100; factor = factor == 2 ? 5 : 2)
    width *= factor == 2 ? 2 : 5;
  while (width > 10'000'000 && span / width < 10) width /= 10;
  std::map<std::pair<uint64_t, int>, uint64_t> counts;
  for (const PlotPoint& point : points) {
    int power = point.value < 1 ? 0 : static_cast<int>(std::floor(std::log2(point.value))) + 1;
    counts[{(point.ns - time.first_ns) / width, power}]++;
  }
  std::vector<PlotCell> cells;
  for (const auto& [place, count] : counts) {
    auto [column, power] = place;
    uint64_t from = time.first_ns + column * width;
    double low = power == 0 ? 0 : std::exp2(power - 1);
    cells.push_back({from, from + width, low, std::exp2(power), count});
  }
  return cells;
}

std::string draw_heat(const PlotSpec& spec, const PlotData& data) {
  constexpr double kHeight = 380;
  std::vector<const PlotGroup*> groups = largest_first(data);
  size_t panels = std::min(std::max<size_t>(groups.size(), 1), kMostPanels);
  Svg svg(kWidth, (kTop + kHeight + kBottom) * static_cast<double>(panels));
  size_t hidden = groups.size() > panels ? groups.size() - panels : 0;
  svg.text(kWidth - kRight, kTop - 24, Align::Right, remark(data, hidden));
  for (size_t i = 0; i < panels; i++) {
    PlotGroup group = i < groups.size() ? *groups[i] : PlotGroup{};
    if (!spec.is_of_map() && !group.values.empty())
      group.cells = cells_of(group.values[0], range_of(data));
    double top = kTop + static_cast<double>(i) * (kTop + kHeight + kBottom);
    draw_heat_panel(svg, data, group, {kLeft, top, kPlotWidth, kHeight});
  }
  return svg.finish();
}

// --- lines ---------------------------------------------------------------------------

// Columns of another unit than the first go by the scale at the right.
bool is_right(const PlotData& data, size_t column) {
  auto unit = [&](size_t i) {
    size_t open = data.headings[i].find('(');
    return open == std::string::npos ? "" : data.headings[i].substr(open);
  };
  return unit(column) != unit(0);
}

void draw_line_panel(Svg& svg, const PlotData& data, const PlotGroup& group, Panel panel) {
  Range left, right;
  for (size_t i = 0; i < group.values.size(); i++)
    for (const PlotPoint& point : group.values[i])
      (is_right(data, i) ? right : left).take(point.value);
  Chart chart(svg, panel, range_of(data), left.axis());
  Axis right_axis = right.axis();
  right_axis.from = panel.top + panel.height;
  right_axis.to = panel.top;
  std::string left_label, right_label;
  for (size_t i = 0; i < group.values.size(); i++) {
    std::string& label = is_right(data, i) ? right_label : left_label;
    label += (label.empty() ? "" : ", ") + data.headings[i];
    std::string paint = i == 0 ? kBlue : colour(i - 1);
    legend(svg, panel.top, i, paint, data.headings[i]);
    std::string points;
    for (const PlotPoint& point : group.values[i]) {
      double y = is_right(data, i) ? right_axis.at(point.value) : chart.y(point.value);
      fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", chart.x(point.ns), y);
    }
    svg.path(points, "stroke:" + paint);
    for (const PlotPoint& point : group.values[i]) {
      double y = is_right(data, i) ? right_axis.at(point.value) : chart.y(point.value);
      svg.circle(chart.x(point.ns), y, paint, point.title);
    }
  }
  chart.frame(fmt::format("{}: {}", data.title, group.name), left_label);
  if (!right_label.empty()) chart.right_axis(right_axis, right_label);
  for (const PlotPoint& mark : group.marks)
    svg.line(chart.x(mark.ns), panel.top, chart.x(mark.ns), panel.top + panel.height,
             fmt::format("stroke:{};stroke-width:2;stroke-dasharray:4 3", kRed), mark.title);
}

std::string draw_lines(const PlotSpec& spec, const PlotData& data) {
  constexpr double kHeight = 300, kTall = kTop + 10;
  std::vector<const PlotGroup*> groups = largest_first(data);
  size_t panels = std::min(std::max<size_t>(groups.size(), 1), kMostPanels);
  size_t hidden = groups.size() > panels ? groups.size() - panels : 0;
  double room = kTall + kHeight + kBottom;
  Svg svg(kWidth, room * static_cast<double>(panels));
  svg.text(kWidth - kRight, kTall - 24, Align::Right, remark(data, hidden));
  if (!spec.mark.empty()) {
    svg.line(kLeft + 560, kTall - 44, kLeft + 575, kTall - 44,
             fmt::format("stroke:{};stroke-width:2;stroke-dasharray:4 3", kRed));
    svg.text(kLeft + 580, kTall - 40, Align::Left, spec.marked);
  }
  const PlotGroup nothing{.values = std::vector<std::vector<PlotPoint>>(data.headings.size())};
  for (size_t i = 0; i < panels; i++) {
    double top = kTall + static_cast<double>(i) * room;
    draw_line_panel(svg, data, i < groups.size() ? *groups[i] : nothing,
                    {kLeft, top, kPlotWidth, kHeight});
  }
  return svg.finish();
}

}  // namespace

std::string draw(const PlotSpec& spec, const PlotData& data) {
  switch (spec.kind) {
    case PlotKind::Scatter: return draw_scatter(data);
    case PlotKind::Heat: return draw_heat(spec, data);
    case PlotKind::Lines: return draw_lines(spec, data);
  }
  return "";
}

std::string html_page(const std::string& title, const std::string& svg) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title></head>\n"
      "<body style=\"margin:20px\">\n{}</body></html>\n",
      escape_xml(title), svg);
}

}  // namespace flowtap
