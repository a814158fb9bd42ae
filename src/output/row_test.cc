// Cells for people and for programs, and rows through all three writers.

#include "output/row.h"

#include <gtest/gtest.h>

#include "output/csv_writer.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap {
namespace {

using namespace testing_support;

const Type kInt64 = int_type(8, true);
const Type kUint64 = int_type(8, false);

class RowTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("TZ", "UTC", 1); }

  std::string cell(ColumnKind kind, const Type& type, const BytesOf& bytes, CellStyle style,
                   Type names = nullptr) {
    Table table{.name = "t", .columns = {make_column("X", kind, "", std::move(names))}};
    std::vector<Field> fields = {{.name = "", .type = type, .offset = 0}};
    std::string out;
    append_cell(out, {table, fields, bytes}, 0, context_, style);
    return out;
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
};

TEST_F(RowTest, numbers_of_each_kind) {
  struct Case {
    ColumnKind kind;
    int64_t value;
    const char* people;
    const char* programs;
  };
  const Case cases[] = {
      {ColumnKind::Time, 4'123'456'789, "04:23:24.123", "2026-11-15T04:23:24.123456789Z"},
      {ColumnKind::Ns, 1234, "1234", "1234"},
      {ColumnKind::Us, 1499, "1", "1.499"},
      {ColumnKind::Us, 1500, "2", "1.5"},
      {ColumnKind::Us, 2000, "2", "2"},
      {ColumnKind::Us, -1700, "-2", "-1.7"},
      {ColumnKind::Ms, 1'234'567, "1.235", "1.234567"},
      {ColumnKind::Ms, 999'999'999, "1000.000", "999.999999"},
      {ColumnKind::Ms, 50, "0.000", "0.00005"},
      {ColumnKind::Sec, 61'000'000'000, "61.000", "61"},
      {ColumnKind::Size, 123456, "123456", "123456"},
      {ColumnKind::Int, -3, "-3", "-3"},
      {ColumnKind::Hex, 31, "0x1f", "0x1f"},
      {ColumnKind::Bool, 2, "true", "true"},
      {ColumnKind::Bool, 0, "false", "false"},
      {ColumnKind::Errno, -111, "ECONNREFUSED", "ECONNREFUSED"},
      {ColumnKind::Errno, 11, "EAGAIN", "EAGAIN"},
      {ColumnKind::Errno, 0, "0", "0"},
      {ColumnKind::Errno, 4000, "4000", "4000"},
      {ColumnKind::Errno, INT64_MIN, "-9223372036854775808", "-9223372036854775808"},
      {ColumnKind::TcpState, 1, "ESTABLISHED", "ESTABLISHED"},
      {ColumnKind::TcpState, 99, "99", "99"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(cell(c.kind, kInt64, BytesOf().s64(c.value), CellStyle::People), c.people);
    EXPECT_EQ(cell(c.kind, kInt64, BytesOf().s64(c.value), CellStyle::Programs), c.programs);
  }
}

TEST_F(RowTest, an_enum_is_named_by_its_type_or_by_the_column) {
  Type color = enum_type("enum color", 4, false, {{"RED", 0}, {"GREEN", 5}});
  EXPECT_EQ(cell(ColumnKind::Enum, color, BytesOf().u32(5), CellStyle::People), "GREEN");
  EXPECT_EQ(cell(ColumnKind::Enum, kUint64, BytesOf().u64(0), CellStyle::People, color), "RED");
  EXPECT_EQ(cell(ColumnKind::Enum, kUint64, BytesOf().u64(7), CellStyle::People, color), "7");
}

TEST_F(RowTest, text_keeps_to_its_line_for_people_only) {
  Type text = string_type(8);
  BytesOf bytes = BytesOf().text("a\nb\x7f", 8);
  EXPECT_EQ(cell(ColumnKind::String, text, bytes, CellStyle::People), "a\\x0ab\\x7f");
  EXPECT_EQ(cell(ColumnKind::String, text, bytes, CellStyle::Programs), "a\nb\x7f");
}

class TablesTest : public RowTest {
 protected:
  void row(Writer& writer, const char* comm, uint64_t ns, uint64_t bytes) {
    BytesOf record = BytesOf().u64(0).text(comm, 32).u64(ns).u64(bytes);
    writer.row({table_, fields_, record});
  }

  Table table_{.name = "t",
               .columns = {make_column("COMM", ColumnKind::Comm, "who"),
                           make_column("LAT", ColumnKind::Us, "how long"),
                           make_column("SIZE", ColumnKind::Size, "how much")}};
  std::vector<Field> fields_ = {{.name = "", .type = string_type(32), .offset = 8},
                                {.name = "", .type = kUint64, .offset = 40},
                                {.name = "", .type = kUint64, .offset = 48}};
  Table other_{.name = "u", .columns = {make_column("N", ColumnKind::Int, "a number")}};
  std::vector<Field> other_fields_ = {{.name = "", .type = kUint64, .offset = 8}};
  Sink data_{-1}, diagnostics_{-1};
};

TEST_F(TablesTest, text_is_aligned_and_grows) {
  TextWriter writer(data_, diagnostics_, context_);
  writer.heading(table_);
  row(writer, "cat", 1500, 7);
  row(writer, "a-name-that-is-long", 2'000'000'000'000, 8);
  row(writer, "", 0, 9);
  EXPECT_EQ(data_.buffer(),
            "COMM              LAT(us)      SIZE\n"
            "cat                     2         7\n"
            "a-name-that-is-long  2000000000         8\n"
            "-                             0         9\n");
}

TEST_F(TablesTest, another_table_gets_its_own_heading) {
  TextWriter writer(data_, diagnostics_, context_);
  BytesOf record = BytesOf().u64(0).u64(5);
  writer.row({other_, other_fields_, record});
  row(writer, "cat", 1000, 7);
  writer.row({other_, other_fields_, record});
  writer.row({other_, other_fields_, record});
  EXPECT_EQ(data_.buffer(),
            "    N\n    5\n\n"
            "COMM              LAT(us)      SIZE\ncat                     1         7\n\n"
            "    N\n    5\n    5\n");
}

TEST_F(TablesTest, json_is_one_flat_object) {
  JsonWriter writer(data_, context_);
  writer.heading(table_);
  row(writer, "a\"b", 1500, UINT64_MAX);
  EXPECT_EQ(data_.buffer(),
            "{\"comm\": \"a\\\"b\", \"lat_us\": 1.5, \"size_bytes\": 18446744073709551615}\n");
}

TEST_F(TablesTest, csv_quotes_what_needs_it) {
  CsvWriter writer(data_, diagnostics_, context_);
  writer.heading(table_);
  row(writer, "a,b", 1500, 1);
  row(writer, "say \"x\"", 2000, 2);
  row(writer, "two\nlines", 0, 3);
  EXPECT_EQ(data_.buffer(),
            "comm,lat_us,size_bytes\n\"a,b\",1.5,1\n\"say \"\"x\"\"\",2,2\n\"two\nlines\",0,3\n");
}

TEST_F(TablesTest, csv_has_no_empty_line_within_a_block) {
  CsvWriter writer(data_, diagnostics_, context_);
  Table table{.name = "w", .columns = {make_column("TEXT", ColumnKind::String, "")}};
  std::vector<Field> fields = {{.name = "", .type = string_type(4), .offset = 0}};
  writer.row({table, fields, BytesOf().text("", 4)});
  writer.row({table, fields, BytesOf().text("a", 4)});
  writer.time("\n");
  EXPECT_EQ(data_.buffer(), "text\n\"\"\na\n\"\"\n");
}

TEST_F(TablesTest, a_stack_stands_below_its_row) {
  Table table{.name = "s",
              .columns = {make_column("STACK", ColumnKind::Kstack, ""),
                          make_column("N", ColumnKind::Int, "")}};
  Type stack = stack_type(Kind::KStack, StackMode::Bpftrace, 2, kStackHeader + 16);
  std::vector<Field> fields = {{.name = "", .type = stack, .offset = 0},
                               {.name = "", .type = kUint64, .offset = kStackHeader + 16}};
  BytesOf record = BytesOf().u32(2).u32(0);
  record.pad(kStackHeader - 8).u64(0xff01).u64(0xff02).u64(6);
  TextWriter writer(data_, diagnostics_, context_);
  writer.row({table, fields, record});
  EXPECT_EQ(data_.buffer(), "    N\n    6\n        vfs_read+1\n        vfs_read+2\n");
  data_.buffer().clear();
  CsvWriter csv(data_, diagnostics_, context_);
  csv.row({table, fields, record});
  EXPECT_EQ(data_.buffer(), "stack,n\n\"vfs_read+1\nvfs_read+2\",6\n");
}

TEST_F(TablesTest, csv_of_everything_else_has_blocks) {
  CsvWriter writer(data_, diagnostics_, context_);
  Type key = tuple_type({string_type(4), int_type(4, false)});
  std::vector<std::byte> counts = counted(hist(), {5, 9});
  BytesOf name = BytesOf().text("a,b", 4).u32(7), two = BytesOf().u64(2);
  std::vector<MapEntry> numbers = {{name, two}}, histogram = {{Bytes(), counts}};
  writer.map({.name = "@n", .key = key, .value = kUint64, .entries = numbers});
  writer.map({.name = "@m", .key = key, .value = kUint64, .entries = numbers});
  writer.map({.name = "@h", .value = hist(), .entries = histogram});
  writer.value(kUint64, two);
  writer.time("now\n");
  writer.end_of_events();
  EXPECT_EQ(data_.buffer(),
            "map,key1,key2,value\n@n,\"a,b\",7,2\n@m,\"a,b\",7,2\n\n"
            "map,min,max,count\n@h,4,7,1\n@h,8,15,1\n\n"
            "value\n2\n\n"
            "text\nnow\n");
  writer.lost_events(3);
  EXPECT_EQ(diagnostics_.buffer(), "Lost 3 events\n");
}

}  // namespace
}  // namespace flowtap
