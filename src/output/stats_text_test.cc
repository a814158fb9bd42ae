#include "output/stats_text.h"

#include <gtest/gtest.h>

#include "output/json.h"
#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

TEST(StatsTest, text_and_json) {
  std::string text, json;
  append_stats(text, aggregation(Kind::Stats), BytesOf().s64(-9).u64(2));
  append_stats_json(json, aggregation(Kind::Stats), BytesOf().s64(-9).u64(2));
  EXPECT_EQ(text, "{ .count = 2, .average = -4, .total = -9 }");
  EXPECT_EQ(json, R"({"count": 2, "average": -4, "total": -9})");
}

TEST(StatsTest, div_divides_the_average_only) {
  std::string text;
  append_stats(text, aggregation(Kind::Stats, false), BytesOf().u64(80).u64(2), 10);
  EXPECT_EQ(text, "{ .count = 2, .average = 4, .total = 80 }");
}

TEST(StatsTest, nothing_counted_averages_zero) {
  std::string text;
  append_stats(text, aggregation(Kind::Stats), BytesOf().u64(0).u64(0));
  EXPECT_EQ(text, "{ .count = 0, .average = 0, .total = 0 }");
}

}  // namespace
}  // namespace flowtap
