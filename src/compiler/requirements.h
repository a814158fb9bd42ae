#pragma once
// What an image asks of the kernel beyond its probes: helpers, kinds of maps, ways to run programs.

#include <vector>

#include "bpf/image.h"
#include "target/target.h"

namespace flowtap {

struct Requirement {
  Feature feature;
  Span span;  // of the first place that needs it
};

// Each once, in the order of the script's programs.
std::vector<Requirement> requirements_of(const Image& image);
// Those that this kernel does not meet.
std::vector<Requirement> missing_in(const Image& image, const Target& target);

}  // namespace flowtap
