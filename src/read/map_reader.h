#pragma once
// Whole maps read, emptied and set to zero from user space.

#include <cstddef>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

// Keys and values as the kernel gave them, one after the other. A value of a per-CPU map is one
// copy per possible CPU, each rounded up to 8 bytes.
struct MapData {
  size_t count = 0;
  size_t key_size = 0;
  size_t value_size = 0;
  std::vector<std::byte> keys;
  std::vector<std::byte> values;

  Bytes key(size_t i) const { return Bytes(keys).subspan(i * key_size, key_size); }
  Bytes value(size_t i) const { return Bytes(values).subspan(i * value_size, value_size); }
};

// Entries that come and go meanwhile may be in it or not.
Result<MapData> read_map(int fd, const MapDef& map);

// Removes the entries while they are read, so that an event is in what was read or in what is left.
// Of a map without keys, which has one element, the value becomes zero.
Result<MapData> take_map(int fd, const MapDef& map);

// Removes all keys. The element of a map without keys cannot be removed: it becomes zero.
Status clear_map(int fd, const MapDef& map);

// Did a script store something since the map is there, or was cleared? A key says it, and in a map
// without keys any byte that is not 0: see MapDef::written_at.
bool is_written(const MapDef& map, Bytes value);

// Sets all values to zero and keeps the keys.
Status zero_map(int fd, const MapDef& map);

}  // namespace flowtap
