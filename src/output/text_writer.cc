// TextWriter: data as bpftrace prints it, diagnostics as
//
//   slow.bt:7:22: warning: map '@x' is full
//     7 |   @x[tid] = 1;
//       |   ^^^^^^^
//   note: helper 'map_update_elem' returned -7
//
// Both sinks often end at the same terminal, so a diagnostic first sends off the data that came
// before it, and is then sent itself.

#include "output/text_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "output/value_text.h"

namespace flowtap {

// Nothing where the script has no part in it.
static void append_place(std::string& out, const Place& place) {
  if (place.file.empty()) return;
  out += place.file;
  if (place.line > 0) fmt::format_to(std::back_inserter(out), ":{}:{}", place.line, place.column);
  if (place.end_column > 0) fmt::format_to(std::back_inserter(out), "-{}", place.end_column);
  out += ": ";
}

void TextWriter::data(std::string_view text, std::string_view end) {
  data_.buffer().append(text).append(end);
  data_.commit();
}

// Text that the traced system has chosen.
void TextWriter::traced(std::string_view text, LineEnds line_ends, std::string_view end) {
  size_t start = data_.buffer().size();
  data_.buffer() += text;
  if (data_.is_terminal()) escape_tail(data_.buffer(), start, line_ends);
  data(end);
}

std::string& TextWriter::begin_diagnostic() {
  data_.flush();
  return diagnostics_.buffer();
}

void TextWriter::printf(const FormatCall& call) {
  append_printf(data_.buffer(), call, context_);
  data_.commit();
}

// The time before a report belongs to it.
void TextWriter::time(std::string_view text) {
  if (tables_.is_ended()) tables_.close(data_.buffer());
  data(text);
}

void TextWriter::cat(std::string_view content) { traced(content, LineEnds::Keep); }
void TextWriter::join(std::string_view text) { traced(text, LineEnds::Escape, "\n"); }
// Its command is the script's, and may want to clear the screen.
void TextWriter::system(std::string_view output) { data(output, "\n"); }

void TextWriter::value(const Type& type, Bytes bytes) {
  size_t start = data_.buffer().size();
  append_text(data_.buffer(), type, bytes, context_);
  if (data_.is_terminal()) escape_tail(data_.buffer(), start, LineEnds::Keep);
  data("\n");
}

void TextWriter::map(const MapContent& map) {
  if (!map.entries.empty()) tables_.close(data_.buffer());
  append_map(data_.buffer(), map, context_);
  data_.commit();
}

void TextWriter::heading(const Table& table) {
  tables_.heading(data_.buffer(), table);
  data_.commit();
}

void TextWriter::end_of_rows() { tables_.end_of_rows(); }

void TextWriter::row(const Row& row) {
  tables_.row(data_.buffer(), row, context_);
  data_.commit();
}

void TextWriter::message(const Place& place, std::string_view severity, const FormatCall& call) {
  std::string& out = begin_diagnostic();
  append_place(out, place);
  out.append(severity).append(": ");
  append_printf(out, call, message_context_);
  out += '\n';
  diagnostics_.flush();
}

// The language fixes the capitals: scripts of bpftrace are read by other scripts.
void TextWriter::errorf(const Place& place, const FormatCall& call) {
  message(place, "ERROR", call);
}
void TextWriter::warnf(const Place& place, const FormatCall& call) {
  message(place, "WARNING", call);
}

void TextWriter::attached_probes(uint64_t count) {
  fmt::format_to(std::back_inserter(begin_diagnostic()), "Attached {}\n", counted(count, "probe"));
  diagnostics_.flush();
}

void TextWriter::helper_error(const Place& place, const HelperError& error) {
  std::string& out = begin_diagnostic();
  append_place(out, place);
  fmt::format_to(std::back_inserter(out), "warning: {}\n{}note: helper '{}' returned {}\n",
                 error.message, place.excerpt, error.helper, error.code);
  diagnostics_.flush();
}

void TextWriter::runtime_error(const Place& place, std::string_view message) {
  std::string& out = begin_diagnostic();
  append_place(out, place);
  out += "warning: ";
  size_t start = out.size();
  out += message;  // may name a file that a traced program chose
  if (diagnostics_.is_terminal()) escape_tail(out, start, LineEnds::Escape);
  out.append("\n").append(place.excerpt);
  diagnostics_.flush();
}

void TextWriter::lost_events(uint64_t count) {
  fmt::format_to(std::back_inserter(begin_diagnostic()), "Lost {}\n", counted(count, "event"));
  diagnostics_.flush();
}

// The empty lines are bpftrace's; rows are often read by programs, which would stumble over them.
void TextWriter::end_of_events() {
  if (!tables_.is_used()) data("\n\n");
}

void TextWriter::flush() {
  data_.flush();
  diagnostics_.flush();
}

std::unique_ptr<Writer> make_text_writer(Sink& data, Sink& diagnostics,
                                         const ValueContext& context) {
  return std::make_unique<TextWriter>(data, diagnostics, context);
}

}  // namespace flowtap
