// Aligned rows. Way in: TextTables::row(). A cell is appended to the buffer and then moved right
// within it, or followed by blanks, so that no cell needs memory of its own.

#include "output/text_table.h"

#include <algorithm>

namespace flowtap {

static constexpr size_t kGap = 2;  // blanks between columns

static bool is_stack(const Column& column) { return column_kind(column.kind).is_stack(); }

static size_t count_cells(const Table& table) {
  return static_cast<size_t>(std::count_if(table.columns.begin(), table.columns.end(),
                                           [](const Column& column) { return !is_stack(column); }));
}

// Bytes that begin a character: what UTF-8 takes on the screen, near enough.
static size_t width_of(const std::string& out, size_t start) {
  size_t width = 0;
  for (size_t i = start; i < out.size(); i++) width += (out[i] & 0xc0) != 0x80;
  return width;
}

// Aligns the cell that begins at `start`; the last one of a line gets no blanks behind it.
static void align(std::string& out, size_t start, size_t& width, bool is_right, bool is_last) {
  size_t taken = width_of(out, start);
  width = std::max(width, taken);
  if (is_right)
    out.insert(start, width - taken, ' ');
  else if (!is_last)
    out.append(width - taken, ' ');
  if (!is_last) out.append(kGap, ' ');
}

std::vector<size_t>& TextTables::widths_of(const Table& table) {
  for (Widths& known : widths_)
    if (known.table == &table) return known.columns;
  std::vector<size_t> columns;
  for (const Column& column : table.columns)
    columns.push_back(std::max<size_t>(column_kind(column.kind).width, column.heading.size()));
  widths_.push_back({&table, std::move(columns)});
  return widths_.back().columns;
}

void TextTables::heading(std::string& out, const Table& table) {
  if (last_ == &table && !is_ended_) return;
  close(out);
  last_ = &table;
  std::vector<size_t>& widths = widths_of(table);
  size_t left = count_cells(table);
  for (size_t i = 0; i < table.columns.size(); i++) {
    const Column& column = table.columns[i];
    if (is_stack(column)) continue;
    size_t start = out.size();
    out += column.heading;
    align(out, start, widths[i], column_kind(column.kind).is_right, --left == 0);
  }
  out += '\n';
}

void TextTables::close(std::string& out) {
  if (last_) out += '\n';
  last_ = nullptr;
  is_ended_ = false;
}

void TextTables::row(std::string& out, const Row& row, const ValueContext& context) {
  heading(out, row.table);
  std::vector<size_t>& widths = widths_of(row.table);
  size_t left = count_cells(row.table);
  for (size_t i = 0; i < row.table.columns.size(); i++) {
    const Column& column = row.table.columns[i];
    if (is_stack(column)) continue;
    size_t start = out.size();
    append_cell(out, row, i, context, CellStyle::People);
    if (out.size() == start) out += '-';  // so that every row has as many words as the heading
    align(out, start, widths[i], column_kind(column.kind).is_right, --left == 0);
  }
  out += '\n';
  for (size_t i = 0; i < row.table.columns.size(); i++) {
    if (!is_stack(row.table.columns[i])) continue;
    size_t start = out.size();
    append_cell(out, row, i, context, CellStyle::People);
    if (out.size() > start) out += '\n';
  }
}

}  // namespace flowtap
