#pragma once
// Constants that are macros inside of the kernel (TASK_RUNNING, PF_KTHREAD, REQ_SYNC...).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flowtap {

std::optional<int64_t> find_kernel_constant(std::string_view name);

// What took the place of a constant that kernels no longer have; empty if nothing is known of it.
std::string_view successor_of(std::string_view name);

// The enumerator that has the number of this flag's bit: "__REQ_SYNC" for "REQ_SYNC". Empty for
// names of other kinds.
std::string enumerator_of_flag(std::string_view name);

}  // namespace flowtap
