#pragma once
// A script's map, from the kernel to the writer.

#include "base/result.h"
#include "bpf/image.h"
#include "output/writer.h"

namespace flowtap {

struct MapView {
  uint64_t top = 0;  // 0: all entries
  uint64_t div = 1;
  bool takes = false;  // what is written is removed from the map
};

Status write_map(const MapDef& map, int fd, MapView view, Writer& writer);

}  // namespace flowtap
