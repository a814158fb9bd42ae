#pragma once
// Which maps may have a table of hot keys (types/hot_keys.h) in front of them.

#include "sema/checked.h"

namespace flowtap {

// How a script uses a map of counts, sums or averages.
enum class MapUse : uint8_t {
  Counted,  // keys are counted, and the whole map is printed and cleared
  Visited,  // the same, and flowtap's own probes go through it
  Other,    // keys are read or deleted one by one, or the values cannot be added up
};

MapUse use_of_map(const CheckedProgram& program, int map);

}  // namespace flowtap
