#pragma once
// Work in several threads, whose number the system may limit.

#include <cstddef>
#include <functional>

namespace flowtap {

// Calls `work` with 0 to count - 1, each in a thread of its own, and waits for all. What cannot get
// a thread is done here.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

}  // namespace flowtap
