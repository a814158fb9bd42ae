// Turning maps that have two sides; see map_sides.h.

#include "runtime/map_sides.h"

#include <bpf/bpf.h>

#include "kernel/run_program.h"

namespace flowtap {

Status TurningMaps::turn() {
  if (maps_.image.turn < 0) return Done{};
  const uint32_t key = 0;
  uint64_t next = turn_ ^ 1;
  int fd = maps_.fds[static_cast<size_t>(maps_.image.turn)].get();
  if (::bpf_map_update_elem(fd, &key, &next, BPF_ANY) < 0)
    return errno_error("cannot turn maps for a report");
  turn_ = next;
  return wait_for_programs();
}

Status TurningMaps::empty() {
  for (const MapSides& sides : maps_.image.sides) {
    size_t side = turn_ ? sides.first : sides.second;
    if (!maps_.fds[side].valid()) continue;  // nothing is ever stored
    Status emptied = empty_map(maps_, side);
    if (!emptied) return emptied;
  }
  return Done{};
}

}  // namespace flowtap
