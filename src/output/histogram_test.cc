#include "output/histogram.h"

#include <gtest/gtest.h>

#include "output/json.h"
#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

const std::string kFull(52, '@'), kNone(52, ' ');
const std::string kHalf = std::string(26, '@') + std::string(26, ' ');

std::string rows(const Type& type, const std::vector<int64_t>& values, uint64_t div = 1) {
  std::string out;
  append_histogram(out, type, counted(type, values), div);
  return out;
}

std::string buckets(const Type& type, const std::vector<int64_t>& values, uint64_t div = 1) {
  std::string out;
  append_histogram_json(out, type, counted(type, values), div);
  return out;
}

// The labels alone, for tables where the bars do not matter.
std::string labels(const Type& type, const std::vector<int64_t>& values) {
  std::string out, text = rows(type, values);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    std::string label = text.substr(at, 16);
    out += label.substr(0, label.find_last_not_of(' ') + 1) + " ";
  }
  return out;
}

TEST(HistogramTest, rows_run_from_first_to_last_filled_bucket) {
  EXPECT_EQ(rows(hist(), {-1, 0, 1, 2, 8}),
            "(..., 0)               1 |" + kFull + "|\n" +  //
                "[0]                    1 |" + kFull + "|\n" + "[1]                    1 |" +
                kFull + "|\n" + "[2, 4)                 1 |" + kFull + "|\n" +
                "[4, 8)                 0 |" + kNone + "|\n" + "[8, 16)                1 |" +
                kFull + "|\n");
}

TEST(HistogramTest, bars_are_shares_of_the_largest_bucket) {
  EXPECT_EQ(rows(hist(), {4, 5, 9}),
            "[4, 8)                 2 |" + kFull + "|\n[8, 16)                1 |" + kHalf + "|\n");
}

TEST(HistogramTest, empty_has_no_rows) {
  EXPECT_EQ(rows(hist(), {}), "");
  EXPECT_EQ(buckets(hist(), {}), "[]");
}

TEST(HistogramTest, log2_labels_use_units) {
  EXPECT_EQ(labels(hist(), {512, 1024}), "[512, 1K) [1K, 2K) ");
  EXPECT_EQ(labels(hist(), {1 << 20}), "[1M, 2M) ");
  EXPECT_EQ(labels(hist(), {INT64_MAX}), "[4E, 8E) ");
  std::vector<std::byte> top(hist()->size);
  store<uint64_t>(top, top.size() - 8, 1);
  std::string row, json;
  append_histogram(row, hist(), top, 1);
  append_histogram_json(json, hist(), top, 1);
  EXPECT_TRUE(row.starts_with("[8E, ...)              1 |@")) << row;
  EXPECT_EQ(json, R"([{"min": 9223372036854775808, "count": 1}])");
}

TEST(HistogramTest, sub_bits_move_the_units) {
  EXPECT_EQ(labels(hist(1), {1, 15}), "[1] [2] [3] [4, 6) [6, 8) [8, 12) [12, 16) ");
  EXPECT_EQ(labels(hist(1), {768, 2048}), "[768, 1024) [1024, 1536) [1536, 2K) [2K, 3K) ");
}

TEST(HistogramTest, linear_labels) {
  EXPECT_EQ(labels(lhist(0, 4, 2), {-5, 9}), "(..., 0) [0, 2) [2, 4) [4, ...) ");
  EXPECT_EQ(labels(lhist(0, 5, 1), {3}), "[3] ");
  EXPECT_EQ(labels(lhist(0, 4096, 1024), {-1, 5000}),
            "(..., 0) [0, 1K) [1K, 2K) [2K, 3K) [3K, 4K) [4K, ...) ");
  EXPECT_EQ(labels(lhist(0, 2 << 20, 1 << 20), {1 << 20}), "[1M, 2M) ");
  EXPECT_EQ(labels(lhist(-4, 4, 2), {-3}), "[-4, -2) ");
  EXPECT_EQ(labels(lhist(0, 10, 3), {9}), "[9] ") << "the maximum ends the last bucket";
}

TEST(HistogramTest, div_divides_counts_of_hist_only) {
  EXPECT_EQ(rows(hist(), {1, 1, 1, 1}, 2), "[1]                    2 |" + kFull + "|\n");
  EXPECT_EQ(rows(lhist(0, 5, 1), {1, 1}, 2), "[1]                    2 |" + kFull + "|\n");
}

TEST(HistogramTest, json_has_inclusive_ends) {
  EXPECT_EQ(buckets(hist(), {4}), R"([{"min": 4, "max": 7, "count": 1}])");
  EXPECT_EQ(buckets(hist(), {-1, 0}),
            R"([{"max": -1, "count": 1},{"min": 0, "max": 0, "count": 1}])");
  EXPECT_EQ(buckets(lhist(0, 4, 2), {-1, 4}),
            R"([{"max": -1, "count": 1},{"min": 0, "max": 1, "count": 0},)"
            R"({"min": 2, "max": 3, "count": 0},{"min": 4, "count": 1}])");
  EXPECT_EQ(buckets(hist(), {INT64_MAX}),
            R"([{"min": 4611686018427387904, "max": "9223372036854775807", "count": 1}])");
}

TEST(HistogramTest, total_is_the_sum_of_buckets) {
  EXPECT_EQ(histogram_total(counted(hist(), {1, 2, 3, -4})), 4u);
}

}  // namespace
}  // namespace flowtap
