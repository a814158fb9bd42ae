// Printing maps. Way in: write_map(). A map without keys is an array of one element in the
// kernel, whose index is no key that the script knows of.

#include "runtime/map_output.h"

#include <algorithm>
#include <vector>

#include "kernel/map_reader.h"
#include "output/merge.h"

namespace flowtap {

// One copy of each value, in the layout of its type.
static std::vector<std::byte> merged_values(const MapDef& map, const MapData& data) {
  size_t size = map.value->size;
  std::vector<std::byte> merged(data.count * size);
  for (size_t i = 0; i < data.count; i++)
    merge_cpus(map.value, data.value(i), std::span(merged).subspan(i * size, size));
  return merged;
}

// A scalar aggregation that never got a value has nothing to show; a count or a sum is then 0.
static bool is_untouched(const MapDef& map, Bytes value) {
  bool starts_empty =
      is_aggregation(map.value) && !is(map.value, Kind::Count) && !is(map.value, Kind::Sum);
  return !map.key && starts_empty &&
         std::all_of(value.begin(), value.end(), [](std::byte b) { return b == std::byte{0}; });
}

Status write_map(const MapDef& map, int fd, MapView view, Writer& writer) {
  if (fd < 0) return Done{};  // nothing was ever stored
  Result<MapData> data = view.takes ? take_map(fd, map) : read_map(fd, map);
  if (!data) return data.error();
  bool is_merged = is_per_cpu(map.type);
  size_t size = map.value->size;
  std::vector<std::byte> merged;
  if (is_merged) merged = merged_values(map, *data);
  std::vector<MapEntry> entries(data->count);
  for (size_t i = 0; i < data->count; i++) {
    if (map.key) entries[i].key = data->key(i);
    entries[i].value = is_merged ? Bytes(merged).subspan(i * size, size) : data->value(i);
  }
  if (entries.size() == 1 && is_untouched(map, entries[0].value)) return Done{};
  writer.map({.name = map.name,
              .key = map.key,
              .value = map.value,
              .entries = entries,
              .top = view.top,
              .div = view.div});
  return Done{};
}

}  // namespace flowtap
