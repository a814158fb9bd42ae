#include "output/map_order.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

// The keys, in printing order, of entries whose values are given by key 0, 1, 2...
std::vector<uint64_t> order(const Type& value_type, const std::vector<BytesOf>& values) {
  std::vector<BytesOf> keys;
  for (uint64_t i = 0; i < values.size(); i++) keys.push_back(BytesOf().u64(i));
  std::vector<MapEntry> entries;
  for (size_t i = values.size(); i-- > 0;) entries.push_back({keys[i], values[i]});
  std::vector<uint64_t> result;
  MapContent map{.name = "@", .key = int_type(8, false), .value = value_type, .entries = entries};
  for (const MapEntry& entry : sorted_entries(map)) result.push_back(load<uint64_t>(entry.key));
  return result;
}

using Keys = std::vector<uint64_t>;

TEST(MapOrderTest, numbers_go_by_value) {
  std::vector<BytesOf> values = {BytesOf().s64(3), BytesOf().s64(-1), BytesOf().s64(2)};
  EXPECT_EQ(order(int_type(8, true), values), (Keys{1, 2, 0}));
  EXPECT_EQ(order(int_type(8, false), values), (Keys{2, 0, 1})) << "-1 is large without a sign";
  EXPECT_EQ(order(aggregation(Kind::Sum), values), (Keys{1, 2, 0}));
}

TEST(MapOrderTest, extremes_go_by_value) {
  std::vector<BytesOf> values = {BytesOf().s64(3).u64(1), BytesOf().s64(-1).u64(1)};
  EXPECT_EQ(order(aggregation(Kind::Max), values), (Keys{1, 0}));
}

TEST(MapOrderTest, averages_go_by_average) {
  std::vector<BytesOf> values = {BytesOf().s64(9).u64(1), BytesOf().s64(10).u64(5)};
  EXPECT_EQ(order(aggregation(Kind::Avg), values), (Keys{1, 0}));
  EXPECT_EQ(order(aggregation(Kind::Stats), values), (Keys{1, 0}));
}

TEST(MapOrderTest, histograms_go_by_total) {
  std::vector<BytesOf> values = {BytesOf().u64(0).u64(9).u64(0), BytesOf().u64(3).u64(0).u64(1)};
  EXPECT_EQ(order(lhist(0, 1, 1), values), (Keys{1, 0}));
}

TEST(MapOrderTest, everything_else_goes_by_key) {
  EXPECT_EQ(order(bool_type(), {BytesOf().u8(1), BytesOf().u8(0)}), (Keys{0, 1}));
  EXPECT_EQ(order(string_type(2), {BytesOf().text("b", 2), BytesOf().text("a", 2)}), (Keys{0, 1}));
}

TEST(CompareValuesTest, by_type) {
  EXPECT_LT(compare_values(int_type(2, true), BytesOf().u16(0xffff), BytesOf().u16(1)), 0);
  EXPECT_GT(compare_values(int_type(2, false), BytesOf().u16(0xffff), BytesOf().u16(1)), 0);
  EXPECT_LT(compare_values(string_type(4), BytesOf().text("ab", 4), BytesOf().text("b", 4)), 0);
  EXPECT_LT(compare_values(string_type(4), BytesOf().text("a", 4), BytesOf().text("ab", 4)), 0);
  Type array = array_type(int_type(2, true), 2);
  EXPECT_GT(compare_values(array, BytesOf().u16(1).u16(2), BytesOf().u16(1).u16(0xffff)), 0);
  EXPECT_EQ(compare_values(array_type(none_type(), 0), BytesOf(), BytesOf()), 0);
}

}  // namespace
}  // namespace flowtap
