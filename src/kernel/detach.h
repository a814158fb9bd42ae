#pragma once
// Letting go of what was attached, without making anybody wait.

#include <vector>

#include "kernel/attach.h"

namespace flowtap {

// When it returns no program runs any more. What comes back is only to be closed.
std::vector<Fd> detach(std::vector<Attachment> attachments);

// Closes descriptors that the kernel takes its time with, in a process of their own, so that ours
// can end.
void close_in_background(std::vector<Fd> fds);

}  // namespace flowtap
