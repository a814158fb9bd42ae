#pragma once
// The list of functions that a just-in-time compiler may write: /tmp/perf-PID.map, under its own
// idea of /tmp and of its process id. Anybody can make a file of that name.

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/foreign_file.h"
#include "base/result.h"
#include "symbols/process_maps.h"
#include "symbols/symbol_table.h"

namespace flowtap {

struct PerfMapOwner {
  pid_t pid = 0;
  ProcessStatus status;
  uint64_t started = 0;  // 0: not known
};

// Nothing when there is none. An error when there is one that is not believed: not a regular file,
// of another user than the process's and not of root, or older than the process.
Result<std::optional<ForeignFile>> find_perf_map(const PerfMapOwner& owner,
                                                 const std::string& proc = "/proc");

Result<SymbolTable> read_perf_map(const ForeignFile& file);

}  // namespace flowtap
