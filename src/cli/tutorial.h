#pragma once
// flowtap tutorial: commands that explain the language and the tools, shown and run one after the
// other.

#include <string>
#include <vector>

namespace flowtap {

// All lessons, or the one whose number is given. The exit code for the process.
int run_tutorial(const std::vector<std::string>& words);

}  // namespace flowtap
