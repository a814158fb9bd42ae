#pragma once
// Letting go of what was attached, without making anybody wait.

#include <vector>

#include "attach/attach.h"

namespace flowtap {

// When it returns no program runs any more. What comes back is only to be closed. Of programs that
// a closed gate stops, only one link is waited for: the kernel then has seen to it that none of
// them is still running.
std::vector<Fd> detach(std::vector<Attachment> attachments);

// Closes descriptors that the kernel takes its time with, in a process of their own, so that ours
// can end.
void close_in_background(std::vector<Fd> fds);

}  // namespace flowtap
