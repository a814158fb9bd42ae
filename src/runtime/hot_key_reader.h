#pragma once
// What programs counted in front of a map (types/hot_keys.h draws it), read while they go on.

#include <array>
#include <vector>

#include "base/bytes.h"
#include "bpf/image.h"
#include "read/mapped_memory.h"

namespace flowtap {

struct HotKey {
  Bytes key;                        // as the map has it
  std::array<uint64_t, 2> grown{};  // what each word of the value has grown since it was taken
  std::array<uint64_t, 2> value{};  // what it is
  std::byte* slot = nullptr;
};

class HotKeys {
 public:
  // `map` has hot keys; `fd` is their table.
  static Result<HotKeys> open(int fd, const MapDef& map, const MapDef& table);

  // From now on programs look for these keys in the map before they count them here.
  enum class Which { All, Idle };  // idle: not counted since they were taken
  void make_stale(Which which);
  std::vector<HotKey> read() const;
  void take(const HotKey& key);
  void take_all();

 private:
  HotKeys(MappedMemory memory, const MapDef& map);

  MappedMemory memory_;
  size_t key_size_, slot_size_;
  uint32_t events_;
};

}  // namespace flowtap
