#pragma once
// What was read from a map, and the order in which it is printed.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "types/type.h"

namespace flowtap {

// Views into memory of whoever read the map. Per-CPU values are merged before (merge.h).
struct MapEntry {
  Bytes key;  // empty for a scalar map
  Bytes value;
};

struct MapContent {
  std::string_view name;  // "@x"
  Type key;               // null for a scalar map
  Type value;
  std::span<const MapEntry> entries;
  uint64_t top = 0;  // keep only the last entries of the order; 0 keeps all
  uint64_t div = 1;  // divide numbers by
};

// Ascending by the value's number where it has one, else by key; ties go by key, so that the
// same content always prints the same.
std::vector<MapEntry> sorted_entries(const MapContent& map);

// Negative, zero or positive, as the keys' type orders them.
int compare_values(const Type& type, Bytes a, Bytes b);

}  // namespace flowtap
