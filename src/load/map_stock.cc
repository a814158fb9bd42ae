// Stocks of new maps. Entry point: stock_up().
//
// A hash without preallocated elements takes them from a small stock that the kernel keeps for each
// map and CPU. It refills the stock as soon as interrupts are on again, so what counts is how many
// new keys one interrupt brings, a batch of completed disk requests for example. A new map's stock
// is 4 elements, or one if they are large (Linux 6.1 to 6.18). The first key that a CPU takes makes
// the kernel stock up: 51 elements of up to 256 bytes there, 10 of a histogram on two CPUs. So each
// CPU takes one here, and gives it back.

#include "load/map_stock.h"

#include <bpf/bpf.h>
#include <sched.h>

#include <cstddef>
#include <vector>

#include "base/bytes.h"
#include "kernel/machine.h"

namespace flowtap {

static bool has_stock(const MapDef& map) {
  return map.no_prealloc && (map.type == MapType::Hash || map.type == MapType::PercpuHash);
}

static void take_and_give_back(const MapDef& map, int fd, size_t value_size) {
  std::vector<std::byte> key(map.key_size), value(value_size);
  ::bpf_map_update_elem(fd, key.data(), value.data(), BPF_NOEXIST);
  ::bpf_map_delete_elem(fd, key.data());
}

void stock_up(const Image& image, std::span<const Fd> maps) {
  bool is_needed = false;
  for (size_t i = 0; i < maps.size(); i++) is_needed |= maps[i].valid() && has_stock(image.maps[i]);
  cpu_set_t before;
  if (!is_needed || ::sched_getaffinity(0, sizeof before, &before) != 0) return;
  uint32_t possible = count_possible_cpus();
  for (int cpu : online_cpus()) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) continue;  // not a CPU of this container
    for (size_t i = 0; i < maps.size(); i++) {
      const MapDef& map = image.maps[i];
      size_t size = is_per_cpu(map.type) ? align_up(map.value_size, 8) * possible : map.value_size;
      if (maps[i].valid() && has_stock(map)) take_and_give_back(map, maps[i].get(), size);
    }
  }
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace flowtap
