#pragma once
// Entries of a map whose keys are the same to the reader. A stack or an address is kept as numbers
// that mean something only within a process; printed it is names, which other processes share.

#include <cstddef>
#include <vector>

#include "output/map_order.h"
#include "output/symbolizer.h"

namespace flowtap {

class SameNames {
 public:
  // Joins entries of aggregations: counts, sums and buckets are added, of extremes one is kept.
  // Other values have no sum, and so stay apart. The entries refer to this object and to `map`.
  SameNames(const MapContent& map, const ValueContext& context);

  const std::vector<MapEntry>& entries() const { return entries_; }

 private:
  std::vector<MapEntry> entries_;
  std::vector<std::vector<std::byte>> joined_;  // the values that are not those of one entry
};

}  // namespace flowtap
