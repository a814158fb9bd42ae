#pragma once
// Many user probes by one link: since Linux 6.6, and newer than the headers we build with.

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/fd.h"

namespace flowtap {

inline constexpr uint32_t kUprobeMultiAttachType = 48;  // BPF_TRACE_UPROBE_MULTI

struct UprobeMulti {
  std::string path;
  std::span<const uint64_t> offsets;
  std::span<const uint64_t> counter_offsets;  // of USDT semaphores; empty for none
  std::span<const uint64_t> cookies;          // one for each offset
  bool is_return = false;
  pid_t pid = 0;  // 0: all processes
};

// The program must have been loaded for kUprobeMultiAttachType. Invalid, with errno, on failure.
Fd link_uprobe_multi(int program_fd, const UprobeMulti& probes);

bool has_uprobe_multi();

}  // namespace flowtap
