#pragma once
// What main() stands between the program and an unlucky machine: too little stack, memory that runs
// out, a limit on file sizes.

#include <functional>

namespace flowtap {

inline constexpr int kExitMemory = 3;  // as when the kernel refuses something

// Runs `work` on a stack of known size and gives its exit code. What it throws becomes a message
// and an exit code: out of memory, or an internal error.
int guarded(const std::function<int()>& work);

}  // namespace flowtap
