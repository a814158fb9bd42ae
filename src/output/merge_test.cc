#include "output/merge.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

std::vector<std::byte> merged(const Type& type, const BytesOf& copies) {
  std::vector<std::byte> result(type->size);
  merge_cpus(type, copies, result);
  return result;
}

TEST(MergeTest, counts_and_sums_add_up) {
  EXPECT_EQ(merged(aggregation(Kind::Count), BytesOf().u64(2).u64(0).u64(5)),
            BytesOf().u64(7).vector());
  EXPECT_EQ(merged(aggregation(Kind::Sum), BytesOf().s64(-2).s64(1)), BytesOf().s64(-1).vector());
  EXPECT_EQ(merged(aggregation(Kind::Sum, false), BytesOf().u64(UINT64_MAX).u64(2)),
            BytesOf().u64(1).vector())
      << "wraps";
}

TEST(MergeTest, averages_add_totals_and_counts) {
  EXPECT_EQ(merged(aggregation(Kind::Avg), BytesOf().s64(-2).u64(1).s64(8).u64(2)),
            BytesOf().s64(6).u64(3).vector());
  EXPECT_EQ(merged(aggregation(Kind::Stats), BytesOf().s64(1).u64(1).s64(1).u64(1)),
            BytesOf().s64(2).u64(2).vector());
}

TEST(MergeTest, minimum_ignores_cpus_that_saw_nothing) {
  EXPECT_EQ(merged(aggregation(Kind::Min), BytesOf().s64(0).u64(0).s64(7).u64(1).s64(9).u64(1)),
            BytesOf().s64(7).u64(1).vector());
}

TEST(MergeTest, extremes_compare_by_sign) {
  BytesOf copies = BytesOf().s64(-1).u64(1).s64(4).u64(1);
  EXPECT_EQ(merged(aggregation(Kind::Max, true), copies), BytesOf().s64(4).u64(1).vector());
  EXPECT_EQ(merged(aggregation(Kind::Max, false), copies), BytesOf().s64(-1).u64(1).vector());
  EXPECT_EQ(merged(aggregation(Kind::Min, true), copies), BytesOf().s64(-1).u64(1).vector());
  EXPECT_EQ(merged(aggregation(Kind::Min, false), copies), BytesOf().s64(4).u64(1).vector());
}

TEST(MergeTest, buckets_add_up_one_by_one) {
  EXPECT_EQ(
      merged(lhist(0, 2, 1), BytesOf().u64(1).u64(2).u64(3).u64(4).u64(10).u64(20).u64(30).u64(40)),
      BytesOf().u64(11).u64(22).u64(33).u64(44).vector());
  Type type = hist();
  BytesOf copies;
  copies.pad(type->size).pad(type->size - 8).u64(9);
  EXPECT_EQ(merged(type, copies), BytesOf().pad(type->size - 8).u64(9).vector());
}

struct SeriesCase {
  const char* name;
  TseriesAgg agg;
  int64_t value;
  uint64_t count;
};

TEST(MergeTest, series_join_within_an_interval) {
  BytesOf copies = BytesOf().u64(5).s64(-4).u64(2).u64(5).s64(6).u64(1);
  for (auto [name, agg, value, count] :
       {SeriesCase{"sum", TseriesAgg::Sum, 2, 3}, SeriesCase{"avg", TseriesAgg::Avg, 2, 3},
        SeriesCase{"min", TseriesAgg::Min, -4, 2}, SeriesCase{"max", TseriesAgg::Max, 6, 1},
        SeriesCase{"last", TseriesAgg::Last, -4, 2}})
    EXPECT_EQ(merged(tseries(1, 1, agg), copies), BytesOf().u64(5).s64(value).u64(count).vector())
        << name;
}

TEST(MergeTest, series_keep_the_newest_interval_of_each_bucket) {
  BytesOf copies;
  copies.u64(2).s64(1).u64(1).u64(3).s64(1).u64(1);
  copies.u64(4).s64(9).u64(1).pad(24);
  EXPECT_EQ(merged(tseries(1, 2, TseriesAgg::Sum), copies),
            BytesOf().u64(4).s64(9).u64(1).u64(3).s64(1).u64(1).vector());
}

}  // namespace
}  // namespace flowtap
