#include "types/type.h"

#include <gtest/gtest.h>

#include "types/layout.h"

namespace flowtap {
namespace {

Type hist_of(uint32_t bits) {
  TypeData data{.kind = Kind::Hist};
  data.bits = bits;
  return std::make_shared<const TypeData>(data);
}

TypeData lhist_of(int64_t min, int64_t max, int64_t step) {
  TypeData data{.kind = Kind::Lhist};
  data.min = min;
  data.max = max;
  data.step = step;
  return data;
}

TEST(TypeTest, names_are_those_scripts_write) {
  Type i32 = int_type(4, true);
  EXPECT_EQ(type_name(i32), "int32");
  EXPECT_EQ(type_name(int_type(8, false)), "uint64");
  EXPECT_EQ(type_name(bool_type()), "bool");
  EXPECT_EQ(type_name(string_type(16)), "string[16]");
  EXPECT_EQ(type_name(buffer_type(64)), "buffer[64]");
  EXPECT_EQ(type_name(array_type(i32, 4)), "int32[4]");
  EXPECT_EQ(type_name(struct_type("struct sock", 760, false, 1)), "struct sock");
  EXPECT_EQ(
      type_name(pointer_type(struct_type("struct sock", 760, false, 1), AddressSpace::Kernel)),
      "struct sock *");
  EXPECT_EQ(type_name(tuple_type({int_type(8, true), string_type(3)})), "(int64,string[3])");
  EXPECT_EQ(type_name(record_type({{"a", i32}, {"b", bool_type()}})), "(a=int32,b=bool)");
  EXPECT_EQ(type_name(simple_type(Kind::Sum, 8, false)), "usum_t");
  EXPECT_EQ(type_name(simple_type(Kind::Sum, 8, true)), "sum_t");
}

TEST(TypeTest, tuples_are_laid_out_with_natural_alignment) {
  Type type = tuple_type({int_type(1, true), int_type(8, true), string_type(3), int_type(2, true)});
  std::vector<uint32_t> offsets;
  for (const Field& field : type->fields) offsets.push_back(field.offset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 8, 16, 20}));
  EXPECT_EQ(type->size, 24u);
  EXPECT_EQ(alignment_of(type), 8u);
}

TEST(TypeTest, nested_tuples_keep_the_inner_alignment) {
  Type inner = tuple_type({int_type(1, true), int_type(4, true)});
  Type outer = tuple_type({int_type(2, true), inner});
  EXPECT_EQ(inner->size, 8u);
  EXPECT_EQ(outer->fields[1].offset, 4u);
  EXPECT_EQ(outer->size, 12u);
}

TEST(TypeTest, fields_are_found_by_name) {
  Type type = record_type({{"a", int_type(4, true)}, {"b", int_type(8, true)}});
  ASSERT_NE(find_field(type, "b"), nullptr);
  EXPECT_EQ(find_field(type, "b")->offset, 8u);
  EXPECT_EQ(find_field(type, "c"), nullptr);
}

TEST(TypeTest, types_are_compared_by_content) {
  EXPECT_TRUE(same_type(int_type(4, true), int_type(4, true)));
  EXPECT_FALSE(same_type(int_type(4, true), int_type(4, false)));
  EXPECT_FALSE(same_type(string_type(4), string_type(5)));
  EXPECT_TRUE(same_type(tuple_type({bool_type()}), tuple_type({bool_type()})));
  EXPECT_FALSE(same_type(hist_of(1), hist_of(2)));
}

TEST(HistTest, plain_buckets_are_powers_of_two) {
  struct {
    int64_t value;
    uint32_t bucket;
  } cases[] = {{-1, 0}, {INT64_MIN, 0}, {0, 1},     {1, 2},          {2, 3},
               {3, 3},  {4, 4},         {1023, 11}, {INT64_MAX, 64}, {1024, 12}};
  for (auto& c : cases) EXPECT_EQ(hist_bucket(c.value, 0), c.bucket) << c.value;
  EXPECT_EQ(hist_bucket(1ull << 63, 0, false), 65u);
  EXPECT_EQ(hist_bucket(UINT64_MAX, 0, false), 65u);
  EXPECT_EQ(hist_buckets(*hist_of(0)), 66u);
}

TEST(HistTest, negative_bucket_is_open_below) {
  BucketRange range = hist_range(0, 3);
  EXPECT_TRUE(range.is_open_low);
  EXPECT_EQ(range.high, 0u);
}

TEST(HistTest, sub_bits_split_each_power) {
  BucketRange range = hist_range(hist_bucket(1700, 1), 1);
  EXPECT_EQ(range.low, 1536);
  EXPECT_EQ(range.high, 2048u);
  range = hist_range(hist_bucket(5, 1), 1);
  EXPECT_EQ(range.low, 4);
  EXPECT_EQ(range.high, 6u);
}

TEST(HistTest, ranges_join_without_gap_and_give_their_bucket_back) {
  for (uint32_t bits = 0; bits <= 5; bits++) {
    uint32_t buckets = hist_buckets(*hist_of(bits));
    uint64_t expected_low = 0;
    for (uint32_t bucket = 1; bucket < buckets; bucket++) {
      BucketRange range = hist_range(bucket, bits);
      ASSERT_EQ(static_cast<uint64_t>(range.low), expected_low) << bits << " " << bucket;
      ASSERT_EQ(hist_bucket(static_cast<uint64_t>(range.low), bits, false), bucket);
      ASSERT_EQ(hist_bucket(range.high - 1, bits, false), bucket);
      ASSERT_EQ(range.is_open_high, bucket + 1 == buckets);
      expected_low = range.high;
    }
    EXPECT_EQ(expected_low, 0u) << "the last bucket ends where uint64 does";
  }
}

TEST(LhistTest, covers_the_range_and_both_outsides) {
  TypeData type = lhist_of(-4, 6, 2);
  ASSERT_EQ(hist_buckets(type), 7u);
  EXPECT_TRUE(lhist_range(0, type).is_open_low);
  EXPECT_EQ(static_cast<int64_t>(lhist_range(0, type).high), -4);
  EXPECT_EQ(lhist_range(1, type).low, -4);
  EXPECT_EQ(static_cast<int64_t>(lhist_range(1, type).high), -2);
  EXPECT_EQ(lhist_range(5, type).low, 4);
  EXPECT_EQ(lhist_range(6, type).low, 6);
  EXPECT_TRUE(lhist_range(6, type).is_open_high);
}

TEST(LhistTest, last_bucket_stops_at_the_maximum_when_the_step_does_not_divide) {
  TypeData type = lhist_of(0, 10, 3);
  ASSERT_EQ(hist_buckets(type), 6u);
  EXPECT_EQ(lhist_range(4, type).low, 9);
  EXPECT_EQ(lhist_range(4, type).high, 10u);
  EXPECT_EQ(lhist_range(5, type).low, 10);
}

TEST(LayoutTest, sizes_follow_the_parameters) {
  EXPECT_EQ(stack_value_size(StackMode::Bpftrace, 127), 8u + 127 * 8);
  EXPECT_EQ(stack_value_size(StackMode::BuildId, 2), 8u + 2 * 32);
  EXPECT_EQ(aggregation_size({.kind = Kind::Count}), 8u);
  EXPECT_EQ(aggregation_size({.kind = Kind::Stats}), 16u);
  EXPECT_EQ(aggregation_size(*hist_of(0)), 66u * 8);
  EXPECT_EQ(aggregation_size(lhist_of(0, 10, 5)), 4u * 8);
  TypeData tseries{.kind = Kind::Tseries};
  tseries.intervals = 5;
  EXPECT_EQ(aggregation_size(tseries), 5u * 24);
}

}  // namespace
}  // namespace flowtap
