#pragma once
// Attach points as written -> places the kernel knows: wildcards expanded, targets found, units
// understood. One function per family of probes.

#include <vector>

#include "bpf/image.h"
#include "sema/checked.h"

namespace flowtap {

// Empty when nothing matched or an error was reported.
std::vector<AttachPoint> expand_attach(const AttachSpec& spec, const Target& target,
                                       const CheckOptions& options, Diagnostics& diagnostics);

}  // namespace flowtap
