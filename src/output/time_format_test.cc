#include "output/time_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace flowtap {
namespace {

std::string time_text(uint64_t ns, std::string_view format) {
  setenv("TZ", "UTC", 1);
  tzset();
  std::string out = "<";
  append_time(out, ns, format);
  return out + ">";
}

constexpr uint64_t kMoment = 1794716603'004'005'006;

TEST(TimeFormatTest, follows_strftime) {
  EXPECT_EQ(time_text(kMoment, "%Y-%m-%d %H:%M:%S"), "<2026-11-15 04:23:23>");
  EXPECT_EQ(time_text(kMoment, ""), "<>");
  EXPECT_EQ(time_text(0, "%s%%"), "<0%>");
}

TEST(TimeFormatTest, f_is_six_digits_of_microseconds) {
  EXPECT_EQ(time_text(kMoment, "%S.%f"), "<23.004005>");
  EXPECT_EQ(time_text(kMoment, "%%f %"), "<%f %>");
}

}  // namespace
}  // namespace flowtap
