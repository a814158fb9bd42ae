#pragma once
// Loaded programs are hung on the events they wait for.

#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

struct AttachOptions {
  std::optional<pid_t> pid;  // -p or -c: narrows the kinds that can be narrowed
  std::string tracefs;       // empty: wherever it is mounted
};

// The program is attached as long as these are open.
using Attachment = std::vector<Fd>;

// Kinds that flowtap runs itself (begin, end...) have nothing to attach and give an empty list.
Result<Attachment> attach(const Program& program, const AttachPoint& point, int program_fd,
                          const AttachOptions& options);

// The kernel runs several programs on one event in the order of attaching for some kinds, and
// newest first for others. Attach those in reverse so that blocks run as the script has them.
bool fires_newest_first(ProbeKind kind);

// Closes all; in parallel when there are many, since each close may wait for a grace period.
void detach(std::vector<Attachment> attachments);

}  // namespace flowtap
