#include "output/same_names.h"

#include <gtest/gtest.h>

#include "output/map_writer.h"
#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

struct Entry {
  BytesOf key, value;
};

class SameNamesTest : public testing::Test {
 protected:
  // The map as text, after its entries were joined.
  std::string joined(const Type& key, const Type& value, const std::vector<Entry>& entries) {
    std::vector<MapEntry> all;
    for (const Entry& entry : entries) all.push_back({entry.key, entry.value});
    MapContent map{.name = "@", .key = key, .value = value, .entries = all};
    SameNames same(map, context_);
    map.entries = same.entries();
    std::string out;
    append_map(out, map, context_);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
  const Type user_stack_ = stack_type(Kind::UStack, StackMode::Folded, 1, 16);
  const Type count_ = aggregation(Kind::Count);
};

// Frames 0x1000 of process 7 are main(), all others have no symbol.
BytesOf stack(uint32_t pid, uint64_t address) { return BytesOf().u32(1).u32(pid).u64(address); }

TEST_F(SameNamesTest, counts_of_equal_stacks_are_added) {
  EXPECT_EQ(joined(user_stack_, count_,
                   {{stack(7, 0x1000), BytesOf().u64(1)},
                    {stack(8, 0x1000), BytesOf().u64(10)},
                    {stack(7, 0x1040), BytesOf().u64(100)},
                    {stack(9, 0x1000), BytesOf().u64(1000)}}),
            "@[main]: 101\n@[[unknown]]: 1010\n");
}

TEST_F(SameNamesTest, other_parts_of_a_key_keep_entries_apart) {
  Type key = tuple_type({int_type(8, false), user_stack_});
  EXPECT_EQ(joined(key, count_,
                   {{BytesOf().u64(1).u32(1).u32(7).u64(0x1000), BytesOf().u64(1)},
                    {BytesOf().u64(2).u32(1).u32(7).u64(0x1040), BytesOf().u64(2)},
                    {BytesOf().u64(2).u32(1).u32(7).u64(0x1000), BytesOf().u64(4)}}),
            "@[1, main]: 1\n@[2, main]: 6\n");
}

TEST_F(SameNamesTest, every_aggregation_is_joined) {
  std::vector<BytesOf> keys = {stack(7, 0x1000), stack(7, 0x1008)};
  auto two = [&](const Type& value, const BytesOf& first, const BytesOf& second) {
    return joined(user_stack_, value, {{keys[0], first}, {keys[1], second}});
  };
  EXPECT_EQ(two(aggregation(Kind::Min), BytesOf().s64(5).u64(1), BytesOf().s64(-5).u64(1)),
            "@[main]: -5\n");
  EXPECT_EQ(two(aggregation(Kind::Max), BytesOf().s64(5).u64(1), BytesOf().s64(-5).u64(1)),
            "@[main]: 5\n");
  EXPECT_EQ(two(aggregation(Kind::Avg), BytesOf().s64(30).u64(2), BytesOf().s64(10).u64(2)),
            "@[main]: 10\n");
  Type histogram = hist();
  std::vector<std::byte> one = counted(histogram, {1, 5}), other = counted(histogram, {5});
  std::vector<MapEntry> entries = {{keys[0], one}, {keys[1], other}};
  MapContent map{.name = "@", .key = user_stack_, .value = histogram, .entries = entries};
  SameNames same(map, context_);
  ASSERT_EQ(same.entries().size(), 1u);
  std::vector<std::byte> expected = counted(histogram, {1, 5, 5});
  Bytes value = same.entries()[0].value;
  EXPECT_EQ(std::vector<std::byte>(value.begin(), value.end()), expected);
}

TEST_F(SameNamesTest, what_has_no_sum_stays_apart) {
  EXPECT_EQ(joined(user_stack_, int_type(8, true),
                   {{stack(7, 0x1000), BytesOf().s64(1)}, {stack(7, 0x1040), BytesOf().s64(2)}}),
            "@[main]: 1\n@[main]: 2\n");
}

TEST_F(SameNamesTest, strings_that_look_alike_in_a_line_stay_apart) {
  Type key = tuple_type({string_type(8), string_type(8)});
  std::vector<Entry> entries = {{BytesOf().text("a,b", 8).text("c", 8), BytesOf().u64(1)},
                                {BytesOf().text("a", 8).text("b,c", 8), BytesOf().u64(2)}};
  std::vector<MapEntry> all;
  for (const Entry& entry : entries) all.push_back({entry.key, entry.value});
  MapContent map{.name = "@", .key = key, .value = count_, .entries = all};
  SameNames same(map, context_);
  map.entries = same.entries();
  std::string json;
  append_map_json(json, map, context_);
  EXPECT_EQ(json, R"({"type": "map", "data": {"@": {"a,b,c": 1, "a,b,c #2": 2}}})"
                  "\n");
}

}  // namespace
}  // namespace flowtap
