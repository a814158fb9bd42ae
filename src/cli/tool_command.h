#pragma once
// The command line when its first word is a tool or a question about tools.

#include "base/result.h"
#include "cli/options.h"

namespace flowtap {

// flowtap tools | help [NAME] | source NAME | NAME [options]; everything else is left to
// parse_options(). An Error is a usage error.
Result<Options> parse_command(int argc, char** argv);

}  // namespace flowtap
