#pragma once
// PlotWriter: keeps what a picture needs. It stands behind a tee, beside the writer of the output.

#include <string>

#include "output/tee.h"
#include "plot/plot_check.h"
#include "plot/plot_data.h"
#include "types/plot.h"

namespace flowtap {

class PlotWriter : public SilentWriter {
 public:
  PlotWriter(PlotSpec spec, std::string title, const ValueContext& context);

  // The picture alone, or a page with it.
  std::string finish(bool is_page) const;

  void map(const MapContent& map) override;
  void row(const Row& row) override;
  void attached_probes(uint64_t count) override;

 private:
  bool choose(const Table& table);
  PlotGroup& group(const std::string& name);
  std::string cell(const Row& row, int column) const;
  std::string title_of(const Row& row) const;
  std::string group_name(const Row& row) const;

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
