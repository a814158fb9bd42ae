#pragma once
// PlotWriter: passes everything on to another writer, and keeps what a picture needs.

#include <string>

#include "output/writer.h"
#include "plot/plot_check.h"
#include "plot/plot_data.h"
#include "plot/plot_spec.h"

namespace flowtap {

class PlotWriter : public Writer {
 public:
  PlotWriter(Writer& inner, PlotSpec spec, std::string title, const ValueContext& context);

  // The picture alone, or a page with it.
  std::string finish(bool is_page) const;

  void printf(const FormatCall& call) override { inner_.printf(call); }
  void time(std::string_view text) override { inner_.time(text); }
  void cat(std::string_view content) override { inner_.cat(content); }
  void join(std::string_view text) override { inner_.join(text); }
  void system(std::string_view output) override { inner_.system(output); }
  void value(const Type& type, Bytes bytes) override { inner_.value(type, bytes); }
  void map(const MapContent& map) override;
  void heading(const Table& table) override { inner_.heading(table); }
  void row(const Row& row) override;
  void end_of_rows() override { inner_.end_of_rows(); }
  void errorf(const Place& place, const FormatCall& call) override { inner_.errorf(place, call); }
  void warnf(const Place& place, const FormatCall& call) override { inner_.warnf(place, call); }
  void attached_probes(uint64_t count) override;
  void helper_error(const Place& place, const HelperError& error) override {
    inner_.helper_error(place, error);
  }
  void runtime_error(const Place& place, std::string_view message) override {
    inner_.runtime_error(place, message);
  }
  void lost_events(uint64_t count) override { inner_.lost_events(count); }
  void end_of_events() override { inner_.end_of_events(); }
  void flush() override { inner_.flush(); }

 private:
  bool choose(const Table& table);
  PlotGroup& group(const std::string& name);
  std::string cell(const Row& row, int column) const;
  std::string title_of(const Row& row) const;
  std::string group_name(const Row& row) const;

  Writer& inner_;
  PlotSpec spec_;
  PlotData data_;
  ValueContext context_;
  const Table* table_ = nullptr;  // the first that has all columns
  PlotColumns columns_;
  uint64_t points_ = 0;
  uint64_t made_ns_;      // what ELAPSED counts from, nearly
  uint64_t reported_ns_;  // when the map was printed last, or tracing began
};

}  // namespace flowtap
