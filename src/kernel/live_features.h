#pragma once
// What the running kernel lets us do, found out by looking or by trying.

#include "types/btf.h"

namespace flowtap {

// perf_event_open can make events of this kind: "kprobe", "uprobe".
bool has_perf_source(const char* name);

// Loads a program of two instructions for fentry. Locked-down kernels have all that it needs
// and still say EPERM.
bool can_load_fentry(const Btf& vmlinux);

}  // namespace flowtap
