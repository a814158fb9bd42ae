#pragma once
// Small facts of the running machine: CPUs and cgroups.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/kernel_version.h"

namespace flowtap {

// Numbers of the CPUs that are switched on; never empty.
std::vector<int> online_cpus();
// CPUs that could ever be switched on: a per-CPU map has a value for each.
uint32_t count_possible_cpus();
// "0-2,5" -> 0 1 2 5, as the kernel writes sets of CPUs.
std::vector<int> parse_cpu_list(std::string_view text);

KernelVersion running_version();
// Whether the running kernel is of this version or newer.
bool is_kernel_since(int major, int minor);

// The id that a BPF program sees for a directory of cgroup2.
std::optional<uint64_t> find_cgroup_id(const std::string& path);

}  // namespace flowtap
