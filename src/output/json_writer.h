#pragma once
// Records as JSON, one object per line.

#include <memory>

#include "output/sink.h"
#include "output/symbolizer.h"
#include "output/writer.h"

namespace flowtap {

// Everything goes to one sink, diagnostics included: a reader sees the order in which things
// happened. The sink and what the context refers to must outlive the writer.
class JsonWriter : public Writer {
 public:
  JsonWriter(Sink& sink, const ValueContext& context) : sink_(sink), context_(context) {}

  void printf(const FormatCall& call) override;
  void time(std::string_view text) override;
  void cat(std::string_view content) override;
  void join(std::string_view text) override;
  void system(std::string_view output) override;
  void value(const Type& type, Bytes bytes) override;
  void map(const MapContent& map) override;
  void heading(const Table&) override {}
  void row(const Row& row) override;
  void end_of_rows() override {}
  void errorf(const Place& place, const FormatCall& call) override;
  void warnf(const Place& place, const FormatCall& call) override;

  void attached_probes(uint64_t count) override;
  void helper_error(const Place& place, const HelperError& error) override;
  void runtime_error(const Place& place, std::string_view message) override;
  void lost_events(uint64_t count) override;
  void end_of_events() override {}
  void flush() override { sink_.flush(); }

 private:
  std::string& begin(std::string_view type);
  void end();
  void text_record(std::string_view type, std::string_view text);
  void count_record(std::string_view type, std::string_view what, uint64_t count);
  void formatted(const FormatCall& call);
  void message(std::string_view type, const Place& place, const FormatCall& call);

  Sink& sink_;
  ValueContext context_;
};

std::unique_ptr<Writer> make_json_writer(Sink& data, Sink& diagnostics,
                                         const ValueContext& context);

}  // namespace flowtap
