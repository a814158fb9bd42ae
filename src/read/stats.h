#pragma once
// What the kernel counts about programs.

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

// Run times are measured for all programs of the system while this is open. It costs each of
// them some 20 ns.
Result<Fd> enable_run_stats();

struct ProgramStats {
  uint64_t runs = 0;              // with run stats enabled only
  uint64_t nanoseconds = 0;       // likewise
  uint64_t recursion_misses = 0;  // not run, since it was already running on that CPU
};

Result<ProgramStats> read_stats(int program_fd);

// Bytes that the kernel keeps for a map or a program. Before Linux 6.4 it tells those that a map
// could take.
uint64_t kernel_memory(int fd);

// Calls of kernel functions that a link's probes let pass: more returns were awaited than a return
// probe has room for, or a probe was being handled on that CPU. Told since Linux 6.7, before that
// 0.
uint64_t count_missed(int link_fd);

}  // namespace flowtap
