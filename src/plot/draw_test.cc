#include "plot/draw.h"

#include <gtest/gtest.h>

#include "plot/chart.h"

namespace flowtap {
namespace {

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) count++;
  return count;
}

PlotData data_of(std::vector<PlotGroup> groups) {
  PlotData data{.title = "t", .headings = {"LAT(us)"}, .unit = "us", .groups = std::move(groups)};
  data.first_ns = 1'000'000'000;
  data.last_ns = 11'000'000'000;
  return data;
}

TEST(Draw, a_point_for_each_row_and_one_for_those_that_hide_each_other) {
  PlotGroup reads{.name = "read",
                  .values = {{{2'000'000'000, 5, "a"}, {9'000'000'000, 50, "b<c"}}}};
  PlotGroup writes{.name = "write", .values = {{{3'000'000'000, 7, "d"}, {3'000'000'000, 7, "e"}}}};
  std::string svg = draw({.values = {"LAT"}}, data_of({reads, writes}));
  EXPECT_EQ(count_of(svg, "<circle"), 3u);
  EXPECT_EQ(count_of(svg, "fill=\"#d62728\""), 2u);
  EXPECT_NE(svg.find("<title>b&lt;c</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>d\nand 1 more here</title>"), std::string::npos);
  EXPECT_NE(svg.find("write (2)"), std::string::npos);
}

TEST(Draw, names_cannot_spoil_the_picture) {
  PlotGroup rows{.name = "\x1b\"><script>\xff",
                 .values = {{{2'000'000'000, 5, "a\xc3<b>&\x01"}, {3'000'000'000, 9, "ü"}}}};
  std::string svg = draw({.values = {"LAT"}}, data_of({rows}));
  EXPECT_NE(svg.find("<title>a\ufffd&lt;b&gt;&amp; </title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>ü</title>"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find_first_of("\x1b\xff"), std::string::npos);
}

TEST(Draw, cells_hold_every_row) {
  PlotGroup rows{.values = {{}}};
  for (uint64_t i = 0; i < 1000; i++)
    rows.values[0].push_back({1'000'000'000 + i * 10'000'000, static_cast<double>(i % 300), ""});
  PlotSpec spec{.kind = PlotKind::Heat, .values = {"LAT"}};
  std::string svg = draw(spec, data_of({rows}));
  uint64_t sum = 0;
  for (size_t at = 0; (at = svg.find(" us\n", at)) != std::string::npos; at += 4)
    sum += std::stoull(svg.substr(at + 4));
  EXPECT_EQ(sum, 1000u);
}

TEST(Draw, lines_have_a_picture_for_each_socket_and_marks) {
  PlotGroup first{.name = "0xa", .values = {{{2'000'000'000, 5, "a"}, {3'000'000'000, 6, "b"}}}};
  first.marks = {{2'500'000'000, 0, "again"}};
  first.rows = 2;
  PlotGroup second{.name = "0xb", .values = {{{2'000'000'000, 5, "c"}}}, .rows = 1};
  PlotSpec spec{
      .kind = PlotKind::Lines, .values = {"LAT"}, .by = {"S"}, .mark = "E", .marked = "retrans"};
  std::string svg = draw(spec, data_of({second, first}));
  EXPECT_EQ(count_of(svg, "<polyline"), 2u);
  EXPECT_LT(svg.find("t: 0xa"), svg.find("t: 0xb"));
  EXPECT_NE(svg.find("<title>again</title>"), std::string::npos);
}

TEST(Draw, says_what_is_not_there) {
  PlotData nothing{.title = "t", .headings = {"LAT(us)"}};
  EXPECT_NE(draw({.values = {"LAT"}}, nothing).find("nothing happened"), std::string::npos);
  PlotSpec lines{.kind = PlotKind::Lines, .values = {"LAT"}};
  EXPECT_NE(draw(lines, nothing).find("nothing happened"), std::string::npos);
  PlotSpec heat{.kind = PlotKind::Heat, .values = {"LAT"}};
  EXPECT_NE(draw(heat, nothing).find("nothing happened"), std::string::npos);
  PlotData much = data_of({{.values = {{{2'000'000'000, 5, "a"}}}}});
  much.left_out = 17;
  EXPECT_NE(draw({.values = {"LAT"}}, much).find("17 more rows are not shown"), std::string::npos);
}

TEST(Axis, chooses_decades_for_wide_ranges) {
  EXPECT_TRUE(axis_for(1, 1000).is_log);
  EXPECT_FALSE(axis_for(1, 50).is_log);
  EXPECT_FALSE(axis_for(-5, 5000).is_log);
  Axis axis = axis_for(3, 30000);
  EXPECT_EQ(axis.ticks(), (std::vector<double>{1, 10, 100, 1000, 10000, 100000}));
  Axis linear{.low = 0, .high = 10};
  EXPECT_LE(linear.ticks().size(), 11u);
  EXPECT_EQ(linear.ticks()[0], 0);
}

}  // namespace
}  // namespace flowtap
