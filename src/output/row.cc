// Cells and JSON rows. Ways in: append_cell(), append_row_json(). Everything is appended to the
// caller's buffer: a row allocates nothing.
//
// What stands for a name (errors, TCP states, enumerators) is written as that name in all formats:
// the numbers behind some of them change with the kernel. A value without a name stays a number.

#include "output/row.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include <array>
#include <cstring>
#include <ctime>
#include <iterator>

#include "base/clock.h"
#include "output/decode.h"
#include "output/escape.h"
#include "output/json_string.h"
#include "output/scalar.h"
#include "output/stack.h"
#include "output/value_text.h"

namespace flowtap {

namespace {

struct StateName {
  int state;
  std::string_view name;
};
constexpr std::array<StateName, 12> kTcpStates = {{
    {BPF_TCP_ESTABLISHED, "ESTABLISHED"},
    {BPF_TCP_SYN_SENT, "SYN_SENT"},
    {BPF_TCP_SYN_RECV, "SYN_RECV"},
    {BPF_TCP_FIN_WAIT1, "FIN_WAIT1"},
    {BPF_TCP_FIN_WAIT2, "FIN_WAIT2"},
    {BPF_TCP_TIME_WAIT, "TIME_WAIT"},
    {BPF_TCP_CLOSE, "CLOSE"},
    {BPF_TCP_CLOSE_WAIT, "CLOSE_WAIT"},
    {BPF_TCP_LAST_ACK, "LAST_ACK"},
    {BPF_TCP_LISTEN, "LISTEN"},
    {BPF_TCP_CLOSING, "CLOSING"},
    {BPF_TCP_NEW_SYN_RECV, "NEW_SYN_RECV"},
}};

std::string_view tcp_state_name(int64_t state) {
  for (const StateName& row : kTcpStates)
    if (row.state == state) return row.name;
  return {};
}

// EAGAIN and EWOULDBLOCK are one number; the C library knows it by the first.
std::string_view errno_name(int64_t code) {
  if (code == 0 || code < -4095 || code > 4095) return {};
  const char* name = ::strerrorname_np(static_cast<int>(code < 0 ? -code : code));
  return name ? name : std::string_view();
}

// 10:16:00.123 here, 2026-11-15T10:16:00.123456789Z for programs.
void append_stamp(std::string& out, uint64_t ns, CellStyle style) {
  bool is_short = style == CellStyle::People;
  time_t seconds = static_cast<time_t>(ns / kSecond);
  struct tm parts = {};
  if (is_short)
    localtime_r(&seconds, &parts);
  else
    gmtime_r(&seconds, &parts);
  char text[64];
  out.append(text,
             strftime(text, sizeof text, is_short ? "%H:%M:%S" : "%Y-%m-%dT%H:%M:%S", &parts));
  if (is_short)
    fmt::format_to(std::back_inserter(out), ".{:03}", ns % kSecond / 1'000'000);
  else
    fmt::format_to(std::back_inserter(out), ".{:09}Z", ns % kSecond);
}

struct Unit {
  uint64_t ns;      // in one of it
  uint32_t digits;  // after the point, for people
  uint32_t exact;   // after the point, to lose nothing
};

Unit unit_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Us: return {1000, 0, 3};
    case ColumnKind::Ms: return {1'000'000, 3, 6};
    case ColumnKind::Sec: return {kSecond, 3, 9};
    default: return {1, 0, 0};
  }
}

void append_fraction(std::string& out, uint64_t fraction, uint32_t digits) {
  if (digits == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, digits);
}

void append_duration(std::string& out, Scalar number, const Unit& unit, CellStyle style) {
  uint64_t ns = number.bits;
  if (number.is_negative()) {
    out += '-';
    ns = -ns;
  }
  if (style == CellStyle::People) {
    uint64_t scale = 1;  // of the last digit that is shown
    for (uint32_t i = unit.digits; i < unit.exact; i++) scale *= 10;
    uint64_t shown = ns / scale + (ns % scale >= (scale + 1) / 2 && scale > 1);
    uint64_t one = unit.ns / scale;
    append_number(out, {shown / one, false});
    return append_fraction(out, shown % one, unit.digits);
  }
  append_number(out, {ns / unit.ns, false});
  uint64_t rest = ns % unit.ns;
  uint32_t digits = unit.exact;
  if (rest == 0) return;
  for (; rest % 10 == 0; rest /= 10) digits--;
  append_fraction(out, rest, digits);
}

// True when there was no name.
bool append_name(std::string& out, std::string_view name, Scalar number) {
  if (name.empty())
    append_number(out, number);
  else
    out += name;
  return name.empty();
}

bool append_text_cell(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                      CellStyle style) {
  size_t start = out.size();
  append_text(out, type, bytes, context);
  // A newline inside a cell would look like the end of the row.
  if (style == CellStyle::People) escape_tail(out, start, LineEnds::Escape);
  return false;
}

// The lines of a stack without the newline before the first and after the last.
bool append_stack_cell(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                       CellStyle style) {
  size_t start = out.size();
  append_stack(out, type, bytes, context,
               style == CellStyle::People ? StackIndent::Frames : StackIndent::None);
  out.erase(start, 1);
  if (out.size() > start) out.pop_back();
  if (style == CellStyle::People) escape_tail(out, start, LineEnds::Keep);
  return false;
}

}  // namespace

bool append_cell(std::string& out, const Row& row, size_t column, const ValueContext& context,
                 CellStyle style) {
  const Column& about = row.table.columns[column];
  const Type& type = row.fields[column].type;
  Bytes bytes = field_bytes(row.fields[column], row.record);
  const ColumnKindRow& kind = column_kind(about.kind);
  if (kind.is_stack()) return append_stack_cell(out, type, bytes, context, style);
  if (kind.value == ColumnValue::Text || kind.value == ColumnValue::Address)
    return append_text_cell(out, type, bytes, context, style);
  Scalar number = *scalar_of(type, bytes);
  int64_t value = static_cast<int64_t>(number.bits);
  switch (about.kind) {
    case ColumnKind::Time:
      append_stamp(out, context.symbolizer.unix_time(number.bits, Clock::Boot), style);
      return false;
    case ColumnKind::Ns:
    case ColumnKind::Us:
    case ColumnKind::Ms:
    case ColumnKind::Sec: append_duration(out, number, unit_of(about.kind), style); return true;
    case ColumnKind::Hex:
    case ColumnKind::Pointer:
      fmt::format_to(std::back_inserter(out), "{:#x}", number.bits);
      return false;
    case ColumnKind::Bool: out += number.bits ? "true" : "false"; return true;
    case ColumnKind::Errno: return append_name(out, errno_name(value), number);
    case ColumnKind::TcpState: return append_name(out, tcp_state_name(value), number);
    case ColumnKind::Enum:
      return append_name(out, enumerator_name(about.names ? about.names : type, value), number);
    default: append_number(out, number); return true;
  }
}

void append_row_json(std::string& out, const Row& row, const ValueContext& context) {
  const char* separator = "{\"";
  for (size_t i = 0; i < row.table.columns.size(); i++) {
    const Column& column = row.table.columns[i];
    out.append(separator).append(column.key).append("\": ");
    separator = ", \"";
    size_t start = out.size();
    bool is_number = append_cell(out, row, i, context, CellStyle::Programs);
    if (!is_number) quote_tail(out, start);
  }
  out += "}\n";
}

}  // namespace flowtap
