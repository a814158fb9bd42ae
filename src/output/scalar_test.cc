#include "output/scalar.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

std::string text_of(const Type& type, Bytes bytes) {
  std::string out;
  std::optional<Scalar> number = scalar_of(type, bytes);
  if (!number) return "none";
  append_number(out, *number);
  return out;
}

TEST(ScalarTest, integers_are_extended_by_their_own_sign) {
  BytesOf ones = BytesOf().u64(UINT64_MAX);
  EXPECT_EQ(text_of(int_type(1, true), ones), "-1");
  EXPECT_EQ(text_of(int_type(1, false), ones), "255");
  EXPECT_EQ(text_of(int_type(4, false), ones), "4294967295");
  EXPECT_EQ(text_of(int_type(8, true), ones), "-1");
  EXPECT_EQ(text_of(int_type(8, false), ones), "18446744073709551615");
}

TEST(ScalarTest, aggregations_stand_for_one_number) {
  EXPECT_EQ(text_of(aggregation(Kind::Count), BytesOf().u64(3)), "3");
  EXPECT_EQ(text_of(aggregation(Kind::Sum), BytesOf().s64(-3)), "-3");
  EXPECT_EQ(text_of(aggregation(Kind::Min), BytesOf().s64(-3).u64(1)), "-3");
  EXPECT_EQ(text_of(aggregation(Kind::Max, false), BytesOf().s64(-1).u64(1)),
            "18446744073709551615");
  EXPECT_EQ(text_of(aggregation(Kind::Avg), BytesOf().s64(-7).u64(2)), "-3");
  EXPECT_EQ(text_of(aggregation(Kind::Avg), BytesOf().s64(0).u64(0)), "0");
  EXPECT_EQ(text_of(aggregation(Kind::Stats, false), BytesOf().u64(UINT64_MAX).u64(1)),
            "18446744073709551615");
}

TEST(ScalarTest, other_kinds_are_no_number) {
  EXPECT_EQ(text_of(string_type(4), BytesOf().u32(0)), "none");
  EXPECT_EQ(text_of(hist(), BytesOf()), "none");
}

TEST(ScalarTest, division_truncates_toward_zero_and_ignores_zero) {
  Scalar minus_seven{static_cast<uint64_t>(-7), true};
  EXPECT_EQ(divide(minus_seven, 2), (Scalar{static_cast<uint64_t>(-3), true}));
  EXPECT_EQ(divide({UINT64_MAX, false}, 2), (Scalar{INT64_MAX, false}));
  EXPECT_EQ(divide({5, false}, 0), (Scalar{5, false}));
  EXPECT_EQ(divide({1ull << 63, true}, 2), (Scalar{3ull << 62, true})) << "the smallest int64";
}

TEST(ScalarTest, order_follows_sign) {
  EXPECT_LT(order_of({static_cast<uint64_t>(-1), true}), order_of({1, true}));
  EXPECT_GT(order_of({UINT64_MAX, false}), order_of({1, false}));
}

}  // namespace
}  // namespace flowtap
