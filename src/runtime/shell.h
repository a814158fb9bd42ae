#pragma once
// Commands of system().

#include <string>

#include "base/result.h"

namespace flowtap {

// Runs a command with /bin/sh, waits for it and gives what it wrote to its standard output.
Result<std::string> run_shell(const std::string& command);

}  // namespace flowtap
