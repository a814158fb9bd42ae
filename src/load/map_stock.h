#pragma once
// A stock of memory for new keys, on every CPU.

#include <span>

#include "base/fd.h"
#include "bpf/image.h"

namespace flowtap {

// Call it before programs use the maps. It helps, and what fails is left out.
void stock_up(const Image& image, std::span<const Fd> maps);

}  // namespace flowtap
