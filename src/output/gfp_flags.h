#pragma once
// Kernel allocation flags by name.

#include <cstdint>
#include <string>

namespace flowtap {

// "GFP_KERNEL|__GFP_ZERO"; bits without a name follow as one hex number, and 0 is "none".
void append_gfp_flags(std::string& out, uint64_t flags);

}  // namespace flowtap
