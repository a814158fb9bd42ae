#include "output/map_writer.h"

#include <gtest/gtest.h>

#include "output/test_support.h"

namespace flowtap {
namespace {

using namespace testing_support;

struct Entry {
  BytesOf key, value;
};

const Type kInt64 = int_type(8, true);
const Type kName = string_type(4);

class MapWriterTest : public testing::Test {
 protected:
  MapContent content(const Type& key, const Type& value, const std::vector<Entry>& entries) {
    entries_.clear();
    for (const Entry& entry : entries) entries_.push_back({entry.key, entry.value});
    return {.name = "@x", .key = key, .value = value, .entries = entries_};
  }
  std::string text(const MapContent& map) {
    std::string out;
    append_map(out, map, context_);
    return out;
  }
  std::string json(const MapContent& map) {
    std::string out;
    append_map_json(out, map, context_);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
  std::vector<MapEntry> entries_;
  const std::vector<Entry> three_ = {{BytesOf().s64(1), BytesOf().s64(30)},
                                     {BytesOf().s64(2), BytesOf().s64(-10)},
                                     {BytesOf().s64(3), BytesOf().s64(20)}};
};

TEST_F(MapWriterTest, scalar) {
  std::vector<Entry> one = {{BytesOf(), BytesOf().s64(0)}};
  EXPECT_EQ(text(content(nullptr, kInt64, one)), "@x: 0\n");
  EXPECT_EQ(json(content(nullptr, kInt64, one)), "{\"type\": \"map\", \"data\": {\"@x\": 0}}\n");
}

TEST_F(MapWriterTest, empty_map_prints_nothing) {
  EXPECT_EQ(text(content(kInt64, kInt64, {})), "");
  EXPECT_EQ(json(content(kInt64, kInt64, {})), "");
}

TEST_F(MapWriterTest, numbers_ascend_by_value) {
  EXPECT_EQ(text(content(kInt64, kInt64, three_)), "@x[2]: -10\n@x[3]: 20\n@x[1]: 30\n");
  EXPECT_EQ(json(content(kInt64, kInt64, three_)),
            "{\"type\": \"map\", \"data\": {\"@x\": {\"2\": -10, \"3\": 20, \"1\": 30}}}\n");
}

TEST_F(MapWriterTest, narrow_numbers_ascend_too) {
  std::vector<Entry> entries = {{BytesOf().s64(1), BytesOf().u8(3)},
                                {BytesOf().s64(2), BytesOf().u8(0xff)}};
  EXPECT_EQ(text(content(kInt64, int_type(1, true), entries)), "@x[2]: -1\n@x[1]: 3\n");
}

TEST_F(MapWriterTest, top_keeps_the_largest_and_div_divides) {
  MapContent map = content(kInt64, kInt64, three_);
  map.top = 2;
  map.div = 10;
  EXPECT_EQ(text(map), "@x[3]: 2\n@x[1]: 3\n");
  EXPECT_EQ(json(map), "{\"type\": \"map\", \"data\": {\"@x\": {\"3\": 2, \"1\": 3}}}\n");
  map.top = 99;
  EXPECT_EQ(text(map), "@x[2]: -1\n@x[3]: 2\n@x[1]: 3\n");
}

TEST_F(MapWriterTest, equal_values_go_by_key) {
  std::vector<Entry> entries = {{BytesOf().s64(5), BytesOf().u64(1)},
                                {BytesOf().s64(-5), BytesOf().u64(1)},
                                {BytesOf().s64(0), BytesOf().u64(1)}};
  EXPECT_EQ(text(content(kInt64, aggregation(Kind::Count), entries)),
            "@x[-5]: 1\n@x[0]: 1\n@x[5]: 1\n");
}

TEST_F(MapWriterTest, other_values_ascend_by_key) {
  Type key = tuple_type({kName, kInt64});
  std::vector<Entry> entries = {{BytesOf().text("b", 8).s64(1), BytesOf().text("x", 4)},
                                {BytesOf().text("a", 8).s64(2), BytesOf().text("y", 4)},
                                {BytesOf().text("a", 8).s64(-2), BytesOf().text("z z", 4)}};
  EXPECT_EQ(text(content(key, kName, entries)), "@x[a, -2]: z z\n@x[a, 2]: y\n@x[b, 1]: x\n");
  EXPECT_EQ(json(content(key, kName, entries)),
            R"({"type": "map", "data": {"@x": {"a,-2": "z z", "a,2": "y", "b,1": "x"}}})"
            "\n");
}

TEST_F(MapWriterTest, averages_sort_by_average) {
  std::vector<Entry> entries = {{BytesOf().s64(1), BytesOf().s64(9).u64(1)},
                                {BytesOf().s64(2), BytesOf().s64(10).u64(5)}};
  EXPECT_EQ(text(content(kInt64, aggregation(Kind::Avg), entries)), "@x[2]: 2\n@x[1]: 9\n");
  EXPECT_EQ(json(content(kInt64, aggregation(Kind::Avg), entries)),
            "{\"type\": \"stats\", \"data\": {\"@x\": {\"2\": 2, \"1\": 9}}}\n");
}

TEST_F(MapWriterTest, stats) {
  std::vector<Entry> one = {{BytesOf(), BytesOf().s64(5).u64(1)}};
  EXPECT_EQ(text(content(nullptr, aggregation(Kind::Stats), one)),
            "@x: { .count = 1, .average = 5, .total = 5 }\n");
  EXPECT_EQ(json(content(nullptr, aggregation(Kind::Stats), one)),
            R"({"type": "stats", "data": {"@x": {"count": 1, "average": 5, "total": 5}}})"
            "\n");
}

TEST_F(MapWriterTest, histograms_stand_on_their_own_lines) {
  Type type = hist();
  std::vector<std::byte> many = counted(type, {1, 1}), few = counted(type, {2});
  BytesOf one = BytesOf().s64(1), two = BytesOf().s64(2);
  std::vector<MapEntry> entries = {{one, many}, {two, few}};
  MapContent map{.name = "@x", .key = kInt64, .value = type, .entries = entries};
  std::string bar(52, '@');
  EXPECT_EQ(text(map), "@x[2]:\n[2, 4)                 1 |" + bar + "|\n\n" +
                           "@x[1]:\n[1]                    2 |" + bar + "|\n\n");
  EXPECT_EQ(json(map),
            R"({"type": "hist", "data": {"@x": {"2": [{"min": 2, "max": 3, "count": 1}], )"
            R"("1": [{"min": 1, "max": 1, "count": 2}]}}})"
            "\n");
}

TEST_F(MapWriterTest, stack_keys) {
  Type key = stack_type(Kind::KStack, StackMode::Bpftrace, 2, 24);
  std::vector<Entry> one = {{BytesOf().u32(2).u32(0).u64(0xff01).u64(0xff80), BytesOf().u64(3)}};
  EXPECT_EQ(text(content(key, aggregation(Kind::Count), one)),
            "@x[\n        vfs_read+1\n        ext4_sync+0\n]: 3\n");
}

}  // namespace
}  // namespace flowtap
