#pragma once
// Records as CSV. What is no data (warnings, losses) goes to the diagnostics as text.

#include <memory>
#include <string>

#include "output/sink.h"
#include "output/symbolizer.h"
#include "output/text_writer.h"
#include "output/writer.h"

namespace flowtap {

// Lines of one shape stand together below their heading; a line of another shape begins a new
// block, after an empty line and with a heading of its own.
class CsvWriter : public Writer {
 public:
  CsvWriter(Sink& data, Sink& diagnostics, const ValueContext& context)
      : data_(data), text_(data, diagnostics, context), context_(context) {}

  void printf(const FormatCall& call) override;
  void time(std::string_view text) override { text_line(text); }
  void cat(std::string_view content) override { text_line(content); }
  void join(std::string_view text) override { text_line(text); }
  void system(std::string_view output) override { text_line(output); }
  void value(const Type& type, Bytes bytes) override;
  void map(const MapContent& map) override;
  void heading(const Table& table) override;
  void row(const Row& row) override;
  void end_of_rows() override {}

  void errorf(const Place& place, const FormatCall& call) override { text_.errorf(place, call); }
  void warnf(const Place& place, const FormatCall& call) override { text_.warnf(place, call); }
  void attached_probes(uint64_t count) override { text_.attached_probes(count); }
  void helper_error(const Place& place, const HelperError& error) override {
    text_.helper_error(place, error);
  }
  void runtime_error(const Place& place, std::string_view message) override {
    text_.runtime_error(place, message);
  }
  void lost_events(uint64_t count) override { text_.lost_events(count); }
  void end_of_events() override {}
  void flush() override { text_.flush(); }

 private:
  std::string& begin_block(std::string_view heading);
  void text_line(std::string_view text);
  void end_text(size_t start);
  void commit(size_t start);

  Sink& data_;
  TextWriter text_;
  ValueContext context_;
  std::string heading_;           // of the open block
  const Table* table_ = nullptr;  // whose block it is, when it is one of rows
};

std::unique_ptr<Writer> make_csv_writer(Sink& data, Sink& diagnostics, const ValueContext& context);

}  // namespace flowtap
