#pragma once
// Hot keys: every CPU counts the keys that it sees often in a small table of its own, in front of
// the map. A program reaches it without a call into the kernel, and so counts in a fraction of the
// time that a lookup takes (lower/hot_key_counts.cc). What the table counted is added when the map
// is read (runtime/hot_key_reader.cc, or a loop over the map). A key is in the map when it comes
// into the table; when it is removed from the map it stays here for as long as it is counted.
//
// A table is one array: for each CPU kHotSlots slots, of which a key can use the one that its hash
// says:
//
//   | u64 state | u64 claims | u64 value[2] | u64 taken[2] | key ... |
//
//   value   what was counted, by this CPU only; never goes back. A sum has its number of events in
//           the second word, other values lie as types/type.h says
//   taken   how much of it has been read and removed, by the reader only
//
// So nobody writes what another CPU writes, and what is counted while somebody reads is in that
// reading or in the next.

#include <cstdint>

#include "types/type.h"

namespace flowtap {

inline constexpr uint32_t kHotBits = 7, kHotSlots = 1 << kHotBits;
inline constexpr uint32_t kMostHotKey = 48;  // bytes
inline constexpr uint32_t kHotClaims = 8, kHotValue = 16, kHotTaken = 32, kHotKey = 48;

enum class HotState : uint64_t {
  Free,
  Written,  // the key is being written
  Used,
  Stale,  // has been read: any key may use it, after it has made sure that the map has the key
};

inline uint32_t hot_slot_size(uint32_t key_size) {
  constexpr uint32_t kLine = 64;  // of the CPU's cache
  return (kHotKey + key_size + kLine - 1) / kLine * kLine;
}

// Which word counts events.
inline uint32_t hot_events(const Type& type) { return is(type, Kind::Count) ? 0 : 1; }

}  // namespace flowtap
