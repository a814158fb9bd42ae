// JsonWriter: {"type": "printf", "data": "hi\n"} and so on. Objects have a blank after ':' and
// ',', arrays have none; other tools compare these lines byte by byte.

#include "output/json_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "output/json.h"
#include "output/json_string.h"

namespace flowtap {

// Leaves the record open for its members.
std::string& JsonWriter::begin(std::string_view type) {
  return sink_.buffer().append("{\"type\": \"").append(type).append("\", ");
}

void JsonWriter::end() {
  sink_.buffer() += "}\n";
  sink_.commit();
}

static void append_place_fields(std::string& out, const Place& place) {
  out += ", \"filename\": ";
  append_json_string(out, place.file);
  fmt::format_to(std::back_inserter(out), ", \"line\": {}, \"col\": {}", place.line, place.column);
}

void JsonWriter::text_record(std::string_view type, std::string_view text) {
  append_json_string(begin(type).append("\"data\": "), text);
  end();
}

void JsonWriter::count_record(std::string_view type, std::string_view what, uint64_t count) {
  fmt::format_to(std::back_inserter(begin(type)), "\"count\": {0}, \"data\": {{\"{1}\": {0}}}",
                 count, what);
  end();
}

void JsonWriter::formatted(const FormatCall& call) {
  std::string& out = sink_.buffer();
  size_t start = out.size();
  append_printf(out, call, context_);
  quote_tail(out, start);
}

void JsonWriter::message(std::string_view type, const Place& place, const FormatCall& call) {
  begin(type) += "\"msg\": ";
  formatted(call);
  append_place_fields(sink_.buffer(), place);
  end();
}

void JsonWriter::printf(const FormatCall& call) {
  begin("printf") += "\"data\": ";
  formatted(call);
  end();
}

void JsonWriter::time(std::string_view text) { text_record("time", text); }
void JsonWriter::cat(std::string_view content) { text_record("cat", content); }
void JsonWriter::join(std::string_view text) { text_record("join", text); }
void JsonWriter::system(std::string_view output) { text_record("syscall", output); }

void JsonWriter::value(const Type& type, Bytes bytes) {
  append_json(begin("value").append("\"data\": "), type, bytes, context_);
  end();
}

void JsonWriter::map(const MapContent& map) {
  append_map_json(sink_.buffer(), map, context_);
  sink_.commit();
}

// Rows have no "type": an object is a row, and its keys say of which table.
void JsonWriter::row(const Row& row) {
  append_row_json(sink_.buffer(), row, context_);
  sink_.commit();
}

void JsonWriter::errorf(const Place& place, const FormatCall& call) {
  message("errorf", place, call);
}
void JsonWriter::warnf(const Place& place, const FormatCall& call) {
  message("warnf", place, call);
}

void JsonWriter::attached_probes(uint64_t count) {
  count_record("attached_probes", "probes", count);
}

void JsonWriter::helper_error(const Place& place, const HelperError& error) {
  std::string& out = begin("helper_error");
  append_json_string(out.append("\"msg\": "), error.message);
  append_json_string(out.append(", \"helper\": "), error.helper);
  fmt::format_to(std::back_inserter(out), ", \"retcode\": {}", error.code);
  append_place_fields(out, place);
  end();
}

void JsonWriter::runtime_error(const Place& place, std::string_view message) {
  std::string& out = begin("runtime_error");
  append_json_string(out.append("\"msg\": "), message);
  append_place_fields(out, place);
  end();
}

void JsonWriter::lost_events(uint64_t count) { count_record("lost_events", "events", count); }

std::unique_ptr<Writer> make_json_writer(Sink& data, Sink&, const ValueContext& context) {
  return std::make_unique<JsonWriter>(data, context);
}

}  // namespace flowtap
