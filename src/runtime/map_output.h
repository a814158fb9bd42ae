#pragma once
// A script's map, from the kernel to the writer.

#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"
#include "output/symbolizer.h"
#include "output/writer.h"

namespace flowtap {

struct MapView {
  uint64_t top = 0;  // 0: all entries
  uint64_t div = 1;
  bool takes = false;  // what is written is removed from the map
};

// The script's maps as the kernel has them.
struct KernelMaps {
  const Image& image;
  std::span<const Fd> fds;  // in step with Image::maps
};

// Where a map is written, and what its numbers mean.
struct MapOutput {
  Writer& writer;
  const ValueContext& values;
};

Status write_map(const KernelMaps& maps, size_t number, MapView view, const MapOutput& to);

// Removes all keys; see kernel/map_reader.h.
Status empty_map(const KernelMaps& maps, size_t number);
// Keeps the keys.
Status zero_values(const KernelMaps& maps, size_t number);

}  // namespace flowtap
