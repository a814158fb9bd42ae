#pragma once
// Records as text for people.

#include <memory>

#include "output/escape.h"
#include "output/sink.h"
#include "output/symbolizer.h"
#include "output/text_table.h"
#include "output/writer.h"

namespace flowtap {

// Data and diagnostics go to different sinks (stdout, or a file, and stderr), which must outlive
// the writer, as must what the context refers to.
class TextWriter : public Writer {
 public:
  TextWriter(Sink& data, Sink& diagnostics, const ValueContext& context)
      : data_(data), diagnostics_(diagnostics), context_(context), message_context_(context) {
    context_.is_terminal = data.is_terminal();
    message_context_.is_terminal = diagnostics.is_terminal();
  }

  void printf(const FormatCall& call) override;
  void time(std::string_view text) override;
  void cat(std::string_view content) override;
  void join(std::string_view text) override;
  void system(std::string_view output) override;
  void value(const Type& type, Bytes bytes) override;
  void map(const MapContent& map) override;
  void heading(const Table& table) override;
  void row(const Row& row) override;
  void end_of_rows() override;
  void errorf(const Place& place, const FormatCall& call) override;
  void warnf(const Place& place, const FormatCall& call) override;

  void attached_probes(uint64_t count) override;
  void helper_error(const Place& place, const HelperError& error) override;
  void runtime_error(const Place& place, std::string_view message) override;
  void lost_events(uint64_t count) override;
  void end_of_events() override;
  void flush() override;

 private:
  void data(std::string_view text, std::string_view end = "");
  void traced(std::string_view text, LineEnds line_ends, std::string_view end = "");
  void message(const Place& place, std::string_view severity, const FormatCall& call);
  std::string& begin_diagnostic();

  Sink& data_;
  Sink& diagnostics_;
  ValueContext context_, message_context_;
  TextTables tables_;
};

std::unique_ptr<Writer> make_text_writer(Sink& data, Sink& diagnostics,
                                         const ValueContext& context);

}  // namespace flowtap
