#pragma once
// The tables of all processors.

#include "arch/arch.h"

namespace flowtap {

extern const Arch kX86_64;

}  // namespace flowtap
