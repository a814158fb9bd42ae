#pragma once
// bpf(2) itself. libbpf's wrappers find out first what the kernel is able to do, by loading
// programs that nobody needs; every kernel that has ring buffers can do it all.

#include <linux/bpf.h>

namespace flowtap {

// A descriptor, or -1 with errno set.
int call_bpf(bpf_cmd command, const bpf_attr& attr);

}  // namespace flowtap
