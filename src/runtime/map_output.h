#pragma once
// A script's map, from the kernel to the writer.

#include <map>
#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"
#include "output/symbolizer.h"
#include "output/writer.h"
#include "read/map_reader.h"

namespace flowtap {

struct MapView {
  uint64_t top = 0;  // 0: all entries
  uint64_t div = 1;
  bool takes = false;   // what is written is removed from the map
  bool is_end = false;  // nobody asked for this map by name
};

// What programs wrote of the maps that are no maps in the kernel, by index; see Dump in
// bpf/image.h.
using DumpedMaps = std::map<size_t, MapData>;

// The script's maps as the kernel has them.
struct KernelMaps {
  const Image& image;
  std::span<const Fd> fds;             // in step with Image::maps
  const DumpedMaps* dumped = nullptr;  // before the end there are none
};

// Keys and values of a map that follow each other.
MapData split_entries(const MapDef& map, Bytes entries);

// Where a map is written, and what its numbers mean.
struct MapOutput {
  Writer& writer;
  const ValueContext& values;
};

Status write_map(const KernelMaps& maps, size_t number, MapView view, const MapOutput& to);

// Removes all keys; see read/map_reader.h.
Status empty_map(const KernelMaps& maps, size_t number);
// Keeps the keys.
Status zero_values(const KernelMaps& maps, size_t number);

}  // namespace flowtap
