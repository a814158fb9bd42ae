#pragma once
// What to trace in place of a kernel function that cannot be traced.

#include <string>

namespace flowtap {

// A hint that names what the running kernel has; empty when nothing is known.
std::string hint_for_function(const std::string& function);

}  // namespace flowtap
