// CsvWriter; the lines themselves are made in csv.cc.

#include "output/csv_writer.h"

#include "output/csv.h"
#include "output/escape.h"
#include "output/value_text.h"

namespace flowtap {

std::string& CsvWriter::begin_block(std::string_view heading) {
  std::string& out = data_.buffer();
  if (heading_ == heading) return out;
  if (!heading_.empty()) out += '\n';
  heading_ = heading;
  table_ = nullptr;
  return out += heading_;
}

// A line end that closes the text says no more than the line of CSV does itself.
void CsvWriter::end_text(size_t start) {
  std::string& out = data_.buffer();
  if (out.size() > start && out.back() == '\n') out.pop_back();
  quote_only_cell(out, start);
  out += '\n';
  commit(start);
}

// Cells hold what was traced as it is, but a terminal must not obey it.
void CsvWriter::commit(size_t start) {
  if (data_.is_terminal()) escape_tail(data_.buffer(), start, LineEnds::Keep);
  data_.commit();
}

void CsvWriter::text_line(std::string_view text) {
  std::string& out = begin_block("text\n");
  size_t start = out.size();
  out += text;
  end_text(start);
}

void CsvWriter::printf(const FormatCall& call) {
  std::string& out = begin_block("text\n");
  size_t start = out.size();
  append_printf(out, call, context_);
  end_text(start);
}

void CsvWriter::value(const Type& type, Bytes bytes) {
  std::string& out = begin_block("value\n");
  size_t start = out.size();
  append_text(out, type, bytes, context_);
  end_text(start);
}

void CsvWriter::map(const MapContent& map) {
  if (map.entries.empty()) return;
  std::string& out = begin_block(csv_map_heading(map));
  size_t start = out.size();
  append_csv_map(out, map, context_);
  commit(start);
}

void CsvWriter::heading(const Table& table) {
  if (table_ == &table) return;
  std::string heading;
  append_csv_heading(heading, table);
  begin_block(heading);
  table_ = &table;
}

void CsvWriter::row(const Row& row) {
  heading(row.table);
  size_t start = data_.buffer().size();
  append_csv_row(data_.buffer(), row, context_);
  commit(start);
}

std::unique_ptr<Writer> make_csv_writer(Sink& data, Sink& diagnostics,
                                        const ValueContext& context) {
  return std::make_unique<CsvWriter>(data, diagnostics, context);
}

}  // namespace flowtap
