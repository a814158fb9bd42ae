#pragma once
// Values that sum up: count(), avg(), hist()... Changed in place, and read over all CPUs.

#include "lower/arithmetic.h"
#include "lower/code.h"
#include "lower/frame.h"
#include "lower/map_entries.h"
#include "lower/memory.h"

namespace flowtap {

class Aggregations : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Arithmetic& arithmetic;
    MapEntries& entries;
  };
  Aggregations(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  // Takes `n` into a value.
  void aggregate(const Lane& lane, const Type& type, Operand n, bool is_signed);
  void add_in_place(const Lane& lane, Operand n);
  Value sum_over_cpus(const MapInfo& map, MapId number, std::optional<Address> key);

 private:
  void bump_bucket(const Lane& lane, const Type& type, Operand n, bool is_signed);
  void update_tseries(Address value, const Type& type, Operand n);

  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
