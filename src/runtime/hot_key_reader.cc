// Reading hot keys; see hot_key_reader.h.

#include "runtime/hot_key_reader.h"

#include <sys/mman.h>

#include <atomic>

#include "types/hot_keys.h"

namespace flowtap {

// A word that a program on another CPU may be writing.
static std::atomic_ref<uint64_t> word(std::byte* slot, uint32_t at) {
  return std::atomic_ref(*reinterpret_cast<uint64_t*>(slot + at));
}

HotKeys::HotKeys(MappedMemory memory, const MapDef& map)
    : memory_(std::move(memory)),
      key_size_(map.key_size),
      slot_size_(hot_slot_size(map.key_size)),
      events_(hot_events(map.value)) {}

Result<HotKeys> HotKeys::open(int fd, const MapDef& map, const MapDef& table) {
  Result<MappedMemory> memory = MappedMemory::open(fd, table.value_size, PROT_READ | PROT_WRITE, 0);
  if (!memory) return memory.error();
  return HotKeys(std::move(*memory), map);
}

static bool has_grown(std::byte* slot, uint32_t events) {
  return word(slot, kHotValue + events * 8) != word(slot, kHotTaken + events * 8);
}

void HotKeys::make_stale(Which which) {
  for (size_t at = 0; at < memory_.bytes().size(); at += slot_size_) {
    std::byte* slot = memory_.data() + at;
    if (which == Which::Idle && has_grown(slot, events_)) continue;
    uint64_t used = static_cast<uint64_t>(HotState::Used);
    word(slot, 0).compare_exchange_strong(used, static_cast<uint64_t>(HotState::Stale));
  }
}

std::vector<HotKey> HotKeys::read() const {
  std::vector<HotKey> keys;
  for (size_t at = 0; at < memory_.bytes().size(); at += slot_size_) {
    std::byte* slot = memory_.data() + at;
    HotKey hot{.key = Bytes(slot + kHotKey, key_size_), .slot = slot};
    for (uint32_t i = 0; i < hot.value.size(); i++) {
      hot.value[i] = word(slot, kHotValue + i * 8);
      hot.grown[i] = hot.value[i] - word(slot, kHotTaken + i * 8);
    }
    if (hot.grown[events_]) keys.push_back(hot);
  }
  return keys;
}

void HotKeys::take(const HotKey& key) {
  for (uint32_t i = 0; i < key.value.size(); i++) word(key.slot, kHotTaken + i * 8) = key.value[i];
}

void HotKeys::take_all() {
  for (const HotKey& key : read()) take(key);
}

}  // namespace flowtap
