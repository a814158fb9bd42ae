#pragma once
// Small facts of the running machine: CPUs, cgroups, kernel symbols.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flowtap {

// CPUs that are switched on.
uint32_t count_cpus();

// The id that a BPF program sees for a directory of cgroup2.
std::optional<uint64_t> find_cgroup_id(const std::string& path);

// The address of a kernel symbol; nothing when there is none or when the kernel hides addresses.
std::optional<uint64_t> find_kernel_symbol(std::string_view name);

}  // namespace flowtap
