#pragma once
// The command line: options of flowtap, then a script, a question or the name of a tool, whose
// options follow.
//
//   flowtap [options] SCRIPT [parameters] [-- --option=value...]
//   flowtap [options] check [SCRIPT] | NAME [the tool's options] | help NAME | source NAME | tools

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace flowtap {

// An Error is a usage error: print it and exit with 2.
Result<Options> parse_command(std::vector<std::string> words);

}  // namespace flowtap
