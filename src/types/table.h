#pragma once
// Tables: what a script declares about the rows it emits. The checker compares values with the
// kinds of the columns, the writers lay rows out by them, help and documents show them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/type.h"

namespace flowtap {

enum class ColumnKind : uint8_t {
  Time,
  Ns,
  Us,
  Ms,
  Sec,
  Size,
  Int,
  Pid,
  Port,
  Hex,
  Pointer,
  Bool,
  Errno,
  TcpState,
  Enum,
  Ip,
  Comm,
  String,
  Kstack,
  Ustack,
};

// What a value must be to stand in a column.
enum class ColumnValue : uint8_t { Integer, Number, Address, Text, Kstack, Ustack };

// One row per kind of column.
struct ColumnKindRow {
  ColumnKind kind;
  std::string_view word;  // as scripts write it
  std::string_view unit;  // ends the name in JSON and CSV; may be empty
  ColumnValue value;
  bool is_right;   // numbers stand right, text left
  uint32_t width;  // of a usual value
  std::string_view takes;
  std::string_view doc;

  // Stacks have lines of their own below the row.
  bool is_stack() const { return value == ColumnValue::Kstack || value == ColumnValue::Ustack; }
};

std::span<const ColumnKindRow> all_column_kinds();
const ColumnKindRow& column_kind(ColumnKind kind);
const ColumnKindRow* find_column_kind(std::string_view word);

struct Column {
  std::string name;  // as the heading shows it
  ColumnKind kind = ColumnKind::Int;
  std::string doc;
  Type names;  // Enum: the enumerators; null otherwise, and when the value's own type knows
  std::string heading;  // LAT(us)
  std::string key;      // lat_us
};

// Fills in the heading and the key.
Column make_column(std::string name, ColumnKind kind, std::string doc, Type names = nullptr);

struct Table {
  std::string name;
  int sorted_by = -1;  // column; rows wait for print(NAME), which writes the largest first
  std::vector<Column> columns;
};

bool can_stand_in(const Type& type, ColumnValue value);

}  // namespace flowtap
