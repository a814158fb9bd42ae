#include "plot/plot_check.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(PlotCheck, a_map_may_be_off) {
  auto hist = std::make_shared<TypeData>(TypeData{.kind = Kind::Hist});
  const PlotMap maps[] = {{"@usecs", hist}, {"@off", nullptr}};
  auto check = [&](const char* name) {
    Status status = check_plot({.kind = PlotKind::Heat, .values = {name}, .unit = "us"}, maps);
    return status ? "" : status.error().what;
  };
  EXPECT_EQ(check("@usecs"), "");
  EXPECT_EQ(check("LAT"), "");
  EXPECT_EQ(check("@off"), "--plot draws '@off', which is not used with these options");
}

TEST(PlotCheck, files_end_in_a_known_way) {
  for (const char* file : {"a.svg", "a.html", "/x/a.htm"}) EXPECT_TRUE(check_plot_file(file));
  for (const char* file : {"a.png", "a", "a.svg.gz", "/dev/stdout"})
    EXPECT_FALSE(check_plot_file(file)) << file;
}

}  // namespace
}  // namespace flowtap
