// The kinds of columns, one row each, and the names that follow from a declaration.

#include "types/table.h"

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace flowtap {

static constexpr std::array<ColumnKindRow, 20> kKinds = {{
    {ColumnKind::Time, "time", "", ColumnValue::Integer, false, 12, "a stamp of the boot clock",
     "wall time of a stamp that `nsecs` gave: `10:16:00.123`; ISO 8601 in UTC in JSON and CSV"},
    {ColumnKind::Ns, "ns", "ns", ColumnValue::Integer, true, 8, "nanoseconds",
     "a duration in nanoseconds"},
    {ColumnKind::Us, "us", "us", ColumnValue::Integer, true, 8, "nanoseconds",
     "a duration, given in nanoseconds and shown in whole microseconds"},
    {ColumnKind::Ms, "ms", "ms", ColumnValue::Integer, true, 9, "nanoseconds",
     "a duration, given in nanoseconds and shown in milliseconds: `1.234`"},
    {ColumnKind::Sec, "sec", "sec", ColumnValue::Integer, true, 8, "nanoseconds",
     "a duration, given in nanoseconds and shown in seconds: `1.234`"},
    {ColumnKind::Size, "bytes", "bytes", ColumnValue::Integer, true, 8, "an integer",
     "an amount of data"},
    {ColumnKind::Int, "int", "", ColumnValue::Integer, true, 5, "an integer", "any number"},
    {ColumnKind::Pid, "pid", "", ColumnValue::Integer, true, 7, "an integer",
     "a process or thread"},
    {ColumnKind::Port, "port", "", ColumnValue::Integer, true, 5, "an integer",
     "a port, in the order of the host"},
    {ColumnKind::Hex, "hex", "", ColumnValue::Number, true, 8, "an integer or a pointer",
     "a number in hexadecimal: `0x1f`"},
    {ColumnKind::Pointer, "pointer", "", ColumnValue::Number, true, 18, "an integer or a pointer",
     "an address: `0xffff88810893ae40`"},
    {ColumnKind::Bool, "bool", "", ColumnValue::Number, false, 5, "an integer or a pointer",
     "`true` or `false`"},
    {ColumnKind::Errno, "errno", "", ColumnValue::Integer, false, 12, "an integer",
     "an error by name, whatever its sign: `ECONNREFUSED`; `0` for none"},
    {ColumnKind::TcpState, "tcpstate", "", ColumnValue::Integer, false, 11, "an integer",
     "a state of TCP by name: `ESTABLISHED`"},
    {ColumnKind::Enum, "enum", "", ColumnValue::Integer, false, 8, "an integer",
     "the name of an enumerator; `enum NAME COLUMN` names the type for values that are plain "
     "numbers"},
    {ColumnKind::Ip, "ip", "", ColumnValue::Address, false, 15, "an address",
     "an IPv4 or IPv6 address, as ntop() gives it"},
    {ColumnKind::Comm, "comm", "", ColumnValue::Text, false, 15, "a string", "a process's name"},
    {ColumnKind::String, "string", "", ColumnValue::Text, false, 8, "a string",
     "any text; symbols, paths, users and the like too"},
    {ColumnKind::Kstack, "kstack", "", ColumnValue::Kstack, false, 0, "a kernel stack",
     "a kernel stack, on lines of its own below the row"},
    {ColumnKind::Ustack, "ustack", "", ColumnValue::Ustack, false, 0, "a user stack",
     "a user stack, likewise"},
}};

std::span<const ColumnKindRow> all_column_kinds() { return kKinds; }

const ColumnKindRow& column_kind(ColumnKind kind) {
  const ColumnKindRow& row = kKinds[static_cast<size_t>(kind)];
  CHECK(row.kind == kind);
  return row;
}

const ColumnKindRow* find_column_kind(std::string_view word) {
  for (const ColumnKindRow& row : kKinds)
    if (row.word == word) return &row;
  return nullptr;
}

// A column that is called after its unit does not repeat it: MS of kind ms is "ms", not "ms_ms".
Column make_column(std::string name, ColumnKind kind, std::string doc, Type names) {
  const ColumnKindRow& row = column_kind(kind);
  Column column{.kind = kind, .doc = std::move(doc), .names = std::move(names)};
  column.heading = name;
  column.key = to_lower(name);
  std::string unit(row.unit);
  bool says_unit = unit.empty() || column.key == unit || column.key.ends_with("_" + unit);
  if (!says_unit) {
    column.key += "_" + unit;
    if (kind != ColumnKind::Size) column.heading += "(" + unit + ")";
  }
  column.name = std::move(name);
  return column;
}

bool can_stand_in(const Type& type, ColumnValue value) {
  switch (value) {
    case ColumnValue::Integer: return is_integer(type);
    case ColumnValue::Number: return is_scalar(type);
    case ColumnValue::Address: return is(type, Kind::Inet);
    case ColumnValue::Text:
      return is(type, Kind::String) || is(type, Kind::Buffer) ||
             (type->kind >= Kind::KSym && type->kind <= Kind::Timestamp);
    case ColumnValue::Kstack: return is(type, Kind::KStack);
    case ColumnValue::Ustack: return is(type, Kind::UStack);
  }
  return false;
}

}  // namespace flowtap
