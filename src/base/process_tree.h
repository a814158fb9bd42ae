#pragma once
// Processes and what they started.

#include <sys/types.h>

#include <vector>

namespace flowtap {

// A process, its children and theirs, as /proc has them now.
std::vector<pid_t> process_tree(pid_t root);

}  // namespace flowtap
