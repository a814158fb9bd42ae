#pragma once
// Writer: everything a running script can say, one method per kind of record. TextWriter writes
// for people, JsonWriter one object per line, CsvWriter for spreadsheets and databases.
// Nothing reaches a descriptor before flush(), or until a sink is full.

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "output/map_writer.h"
#include "output/printf.h"
#include "output/row.h"
#include "types/type.h"

namespace flowtap {

// A place in the script, already looked up: this folder knows no source files.
struct Place {
  std::string_view file;
  uint32_t line = 0;  // 0: the file as a whole, or a tool
  uint32_t column = 0;
  uint32_t end_column = 0;   // 0: not shown
  std::string_view excerpt;  // the line with its carets, newlines included; may be empty
};

// A helper that failed in the kernel, or was refused.
struct HelperError {
  std::string_view message;
  std::string_view helper;  // "map_update_elem"
  int64_t code = 0;         // what it returned
};

class Writer {
 public:
  virtual ~Writer() = default;

  // What the script writes.
  virtual void printf(const FormatCall& call) = 0;
  virtual void time(std::string_view text) = 0;
  virtual void cat(std::string_view content) = 0;
  virtual void join(std::string_view text) = 0;
  virtual void system(std::string_view output) = 0;
  virtual void value(const Type& type, Bytes bytes) = 0;
  virtual void map(const MapContent& map) = 0;
  // The script's only table: its heading may be written before there is a row.
  virtual void heading(const Table& table) = 0;
  virtual void row(const Row& row) = 0;
  // The rows of a sorted table are all there; the next ones are another report.
  virtual void end_of_rows() = 0;
  virtual void errorf(const Place& place, const FormatCall& call) = 0;
  virtual void warnf(const Place& place, const FormatCall& call) = 0;

  // What flowtap has to say about the run.
  virtual void attached_probes(uint64_t count) = 0;
  virtual void helper_error(const Place& place, const HelperError& error) = 0;
  virtual void runtime_error(const Place& place, std::string_view message) = 0;
  virtual void lost_events(uint64_t count) = 0;
  // Events are over; the maps that are printed at exit follow.
  virtual void end_of_events() = 0;

  virtual void flush() = 0;
};

}  // namespace flowtap
