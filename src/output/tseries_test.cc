#include "output/tseries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "output/json.h"
#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

class TseriesTest : public testing::Test {
 protected:
  TseriesTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  std::string plot(const Type& type, Bytes bytes) {
    std::string out;
    append_tseries(out, type, bytes, context_);
    return out;
  }
  std::string json(const Type& type, Bytes bytes) {
    std::string out;
    append_tseries_json(out, type, bytes, context_);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
};

TEST_F(TseriesTest, single_point_stands_in_the_middle) {
  BytesOf bytes = BytesOf().pad(24).u64(3).s64(5).u64(1);
  EXPECT_EQ(plot(tseries(kSecond, 2, TseriesAgg::Last), bytes),
            "                   4                                                   6\n"
            "hh:mm:ss.ns        |___________________________________________________|\n"
            "04:23:23.000000000 |                         *                         | 5\n"
            "                   v___________________________________________________v\n"
            "                   4                                                   6\n");
}

TEST_F(TseriesTest, gaps_zero_line_and_edges) {
  BytesOf bytes = BytesOf().u64(4).s64(-10).u64(1).pad(24).u64(6).s64(10).u64(1);
  EXPECT_EQ(plot(tseries(kSecond, 3, TseriesAgg::Sum), bytes),
            "         -10                                                10\n"
            "hh:mm:ss |___________________________________________________|\n"
            "04:23:24 |*                        .                         | -10\n"
            "04:23:25 |                         .                         | -\n"
            "04:23:26 |                         .                        *| 10\n"
            "         v___________________________________________________v\n"
            "         -10                                                10\n");
}

TEST_F(TseriesTest, labels_follow_the_interval) {
  BytesOf bytes = BytesOf().u64(1).s64(1).u64(1).u64(2).s64(2).u64(1);
  std::string text = plot(tseries(100'000'000, 2, TseriesAgg::Sum), bytes);
  EXPECT_NE(text.find("\nhh:mm:ss.ms  |___"), std::string::npos) << text;
  EXPECT_NE(text.find("\n04:23:20.200 |   "), std::string::npos) << text;
  text = plot(tseries(5'000, 2, TseriesAgg::Sum), bytes);
  EXPECT_NE(text.find("\n04:23:20.000010 |"), std::string::npos) << text;
}

TEST_F(TseriesTest, flat_zero_has_room_below) {
  TypeData data = *tseries(kSecond, 1, TseriesAgg::Max);
  data.is_signed = false;
  std::string text = plot(type_of(data), BytesOf().u64(1).u64(0).u64(1));
  EXPECT_EQ(text.find_first_not_of(' '), text.find("-1")) << text;
}

TEST_F(TseriesTest, averages_are_divided) {
  BytesOf bytes = BytesOf().u64(1).s64(-9).u64(2);
  EXPECT_EQ(json(tseries(kSecond, 1, TseriesAgg::Avg), bytes),
            R"([{"interval_start":"2026-11-15T04:23:21.000000000","value":-4}])");
}

TEST_F(TseriesTest, intervals_that_left_the_window_are_dropped) {
  BytesOf bytes = BytesOf().u64(2).s64(7).u64(1).u64(9).s64(8).u64(1);
  EXPECT_EQ(json(tseries(kSecond, 2, TseriesAgg::Sum), bytes),
            R"([{"interval_start":"2026-11-15T04:23:29.000000000","value":8}])");
}

TEST_F(TseriesTest, empty_series) {
  EXPECT_EQ(plot(tseries(kSecond, 1, TseriesAgg::Sum), BytesOf().pad(24)), "");
  EXPECT_EQ(json(tseries(kSecond, 1, TseriesAgg::Sum), BytesOf().pad(24)), "[]");
}

}  // namespace
}  // namespace flowtap
