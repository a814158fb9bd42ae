#pragma once
// How a program uses its maps, as MapInfo says: which count and which are per thread, and from
// which keys are deleted.

#include "sema/checked.h"

namespace flowtap {

// Needs all types, and the probes that are left in the end.
void find_map_uses(CheckedProgram& program);

}  // namespace flowtap
