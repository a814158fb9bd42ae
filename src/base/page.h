#pragma once
// The kernel's unit of memory, which is not the same on all machines.

#include <unistd.h>

#include <cstddef>

namespace flowtap {

inline size_t page_size() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace flowtap
