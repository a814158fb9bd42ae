#include "types/table.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(Table, names_follow_from_the_declaration) {
  struct Case {
    const char* name;
    ColumnKind kind;
    const char* heading;
    const char* key;
  };
  const Case cases[] = {
      {"PID", ColumnKind::Pid, "PID", "pid"},
      {"LAT", ColumnKind::Us, "LAT(us)", "lat_us"},
      {"MS", ColumnKind::Ms, "MS", "ms"},
      {"LIFE_MS", ColumnKind::Ms, "LIFE_MS", "life_ms"},
      {"ITEMS", ColumnKind::Ms, "ITEMS(ms)", "items_ms"},
      {"TX", ColumnKind::Size, "TX", "tx_bytes"},
      {"Bytes", ColumnKind::Size, "Bytes", "bytes"},
  };
  for (const Case& c : cases) {
    Column column = make_column(c.name, c.kind, "");
    EXPECT_EQ(column.heading, c.heading) << c.name;
    EXPECT_EQ(column.key, c.key) << c.name;
  }
}

TEST(Table, every_kind_is_found_by_its_word_and_number) {
  for (const ColumnKindRow& row : all_column_kinds()) {
    EXPECT_EQ(find_column_kind(row.word), &row);
    EXPECT_EQ(&column_kind(row.kind), &row);
  }
  EXPECT_EQ(find_column_kind("colour"), nullptr);
}

TEST(Table, values_fit_columns_by_their_type) {
  Type pointer = pointer_type(none_type(), AddressSpace::Kernel);
  EXPECT_TRUE(can_stand_in(int_type(4, true), ColumnValue::Integer));
  EXPECT_TRUE(can_stand_in(bool_type(), ColumnValue::Integer));
  EXPECT_FALSE(can_stand_in(pointer, ColumnValue::Integer));
  EXPECT_TRUE(can_stand_in(pointer, ColumnValue::Number));
  EXPECT_FALSE(can_stand_in(string_type(4), ColumnValue::Number));
  EXPECT_TRUE(can_stand_in(string_type(4), ColumnValue::Text));
  EXPECT_FALSE(can_stand_in(string_type(4), ColumnValue::Address));
  EXPECT_TRUE(can_stand_in(simple_type(Kind::Inet, 20), ColumnValue::Address));
  EXPECT_FALSE(can_stand_in(simple_type(Kind::Inet, 20), ColumnValue::Kstack));
}

}  // namespace
}  // namespace flowtap
