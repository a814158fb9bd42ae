// TeeWriter; see tee.h.

#include "output/tee.h"

namespace flowtap {

void TeeWriter::printf(const FormatCall& call) {
  for (Writer* writer : writers_) writer->printf(call);
}

void TeeWriter::time(std::string_view text) {
  for (Writer* writer : writers_) writer->time(text);
}

void TeeWriter::cat(std::string_view content) {
  for (Writer* writer : writers_) writer->cat(content);
}

void TeeWriter::join(std::string_view text) {
  for (Writer* writer : writers_) writer->join(text);
}

void TeeWriter::system(std::string_view output) {
  for (Writer* writer : writers_) writer->system(output);
}

void TeeWriter::value(const Type& type, Bytes bytes) {
  for (Writer* writer : writers_) writer->value(type, bytes);
}

void TeeWriter::map(const MapContent& map) {
  for (Writer* writer : writers_) writer->map(map);
}

void TeeWriter::heading(const Table& table) {
  for (Writer* writer : writers_) writer->heading(table);
}

void TeeWriter::row(const Row& row) {
  for (Writer* writer : writers_) writer->row(row);
}

void TeeWriter::end_of_rows() {
  for (Writer* writer : writers_) writer->end_of_rows();
}

void TeeWriter::errorf(const Place& place, const FormatCall& call) {
  for (Writer* writer : writers_) writer->errorf(place, call);
}

void TeeWriter::warnf(const Place& place, const FormatCall& call) {
  for (Writer* writer : writers_) writer->warnf(place, call);
}

void TeeWriter::attached_probes(uint64_t count) {
  for (Writer* writer : writers_) writer->attached_probes(count);
}

void TeeWriter::helper_error(const Place& place, const HelperError& error) {
  for (Writer* writer : writers_) writer->helper_error(place, error);
}

void TeeWriter::runtime_error(const Place& place, std::string_view message) {
  for (Writer* writer : writers_) writer->runtime_error(place, message);
}

void TeeWriter::lost_events(uint64_t count) {
  for (Writer* writer : writers_) writer->lost_events(count);
}

void TeeWriter::end_of_events() {
  for (Writer* writer : writers_) writer->end_of_events();
}

void TeeWriter::flush() {
  for (Writer* writer : writers_) writer->flush();
}

}  // namespace flowtap
