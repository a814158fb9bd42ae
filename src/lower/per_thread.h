#pragma once
// Which maps are per thread in all but name: @start[tid] = nsecs, read and deleted by `tid` alone.
// Their values can live in task storage, which is found faster than a key in a hash, cannot fill
// up, and goes away with its thread. A script that never deletes a key wants to see the keys of
// threads that have ended too, so its map stays a hash.
//
// In task storage a value lies behind a word that tells whether the key exists:
//   | u64 present | value ... |

#include <cstdint>

#include "sema/checked.h"

namespace flowtap {

inline constexpr uint32_t kPresentSize = 8;

// False as soon as one use of the map needs all of its keys, or another key than `tid`.
bool is_per_thread(const CheckedProgram& program, int map);

}  // namespace flowtap
