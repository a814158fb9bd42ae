#pragma once
// perf_event_open(2): the source of events for all probes but raw tracepoints and iterators.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

// An attr with its size set and the event switched off until a program hangs on it.
perf_event_attr new_perf_attr(uint32_t type, uint64_t config);

// Whom an event is for: one of a process, a CPU, or both.
struct PerfScope {
  pid_t pid = -1;
  int cpu = -1;
};

Result<Fd> open_perf_event(const perf_event_attr& attr, PerfScope scope, const std::string& what);

// The number of a dynamic source: "uprobe", "kprobe".
Result<uint32_t> perf_source_type(const char* name);

// Whether a name stands for several functions, so that the kernel would refuse a kprobe on it; not
// told by kernels that would not refuse. An empty module or "vmlinux" is the kernel itself.
bool kernel_has_several(const std::string& module, const std::string& function);

inline constexpr uint64_t kPerfReturnProbe = 1;  // config:0 of the sources "kprobe" and "uprobe"

// Hangs the program on the event and starts it. The link holds both; it is invalid where the
// kernel has no such links (before 5.15), and then the event holds the program.
Result<Fd> connect_program(int program, const Fd& event, const std::string& what, uint64_t cookie);

}  // namespace flowtap
