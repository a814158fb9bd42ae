#pragma once
// Maps that are `per report` (bpf/image.h, MapSides): which of their sides programs use.

#include "runtime/map_output.h"

namespace flowtap {

class TurningMaps {
 public:
  explicit TurningMaps(KernelMaps maps) : maps_(maps) {}

  // Programs go on with the other side. When this returns none uses the one before any more.
  Status turn();
  // Removes what that side holds.
  Status empty();

 private:
  KernelMaps maps_;
  uint64_t turn_ = 0;
};

}  // namespace flowtap
