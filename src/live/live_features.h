#pragma once
// What the running kernel lets us do, found out by looking or by trying.

#include "bpf/image.h"
#include "target/feature.h"
#include "types/btf.h"

namespace flowtap {

// perf_event_open can make events of this kind: "kprobe", "uprobe".
bool has_perf_source(const char* name);

// Loads a program of two instructions for fentry. Locked-down kernels have all that it needs
// and still say EPERM.
bool can_load_fentry(const Btf& vmlinux);

// Attaches, for a moment, a program of two instructions to a function with seven arguments. Linux
// has been able to since 6.6.
bool can_attach_to_seven_arguments(const Btf& vmlinux);

// Whether programs may read kernel memory.
bool can_read_kernel();

// Whether the kernel has a helper or type of map, asked by making a program or map with it. Helpers
// that only some kinds of programs have are not found.
bool can_use_by_trial(const FeatureRow& row);

// Whether programs may write to user memory, and make a function return early.
bool can_write_user();
bool can_override_return();

// Whether a program of this type may call a kernel function, by its BTF id.
bool kernel_allows_kfunc(int32_t id, ProgramType type, const Btf& vmlinux);

}  // namespace flowtap
