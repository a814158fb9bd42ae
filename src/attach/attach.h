#pragma once
// Loaded programs are hung on the events they wait for.

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

struct AttachOptions {
  std::optional<pid_t> pid;   // -p or -c: narrows the kinds that can be narrowed
  bool uprobe_multi = false;  // how user probes were loaded, see LoadedImage
  bool kprobe_multi = false;  // the same for programs on many kernel functions
  std::string tracefs;        // empty: wherever it is mounted
};

// What holds a program to its events.
struct Attachment {
  std::vector<Fd> links;   // the program runs as long as these are open
  bool is_gated = false;   // the program does nothing any more when these are closed
  std::vector<Fd> events;  // what they hang on, where closing it takes the kernel long
  std::string pin;         // a file that holds it too, to be removed; empty for none
};

// Kinds that flowtap runs itself (begin, end...) have nothing to attach and give an empty one.
Result<Attachment> attach(const Program& program, const AttachPoint& point, int program_fd,
                          const AttachOptions& options);

// Several points at once, all of one kind: user probes in one file with uprobe_multi, and kernel
// functions.
bool can_attach_together(const AttachPoint& a, const AttachPoint& b, const AttachOptions& options);
Result<Attachment> attach_together(const Program& program,
                                   std::span<const AttachPoint* const> points, int program_fd,
                                   const AttachOptions& options);

}  // namespace flowtap
