#pragma once
// TeeWriter passes everything on to several writers, in order. SilentWriter takes everything and
// writes nothing: a writer that is interested in a part derives from it.

#include <vector>

#include "output/writer.h"

namespace flowtap {

class SilentWriter : public Writer {
 public:
  void printf(const FormatCall&) override {}
  void time(std::string_view) override {}
  void cat(std::string_view) override {}
  void join(std::string_view) override {}
  void system(std::string_view) override {}
  void value(const Type&, Bytes) override {}
  void map(const MapContent&) override {}
  void heading(const Table&) override {}
  void row(const Row&) override {}
  void end_of_rows() override {}
  void errorf(const Place&, const FormatCall&) override {}
  void warnf(const Place&, const FormatCall&) override {}
  void attached_probes(uint64_t) override {}
  void helper_error(const Place&, const HelperError&) override {}
  void runtime_error(const Place&, std::string_view) override {}
  void lost_events(uint64_t) override {}
  void end_of_events() override {}
  void flush() override {}
};

class TeeWriter : public Writer {
 public:
  // The writers must outlive it.
  explicit TeeWriter(std::vector<Writer*> writers) : writers_(std::move(writers)) {}

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
  std::vector<Writer*> writers_;
};

}  // namespace flowtap
