#pragma once
// The command line of a generic tool becomes that of the script it stands for.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/tool_about.h"
#include "generic/generic.h"

namespace flowtap {

ToolAbout describe_generic(const GenericTool& tool);

// `before` are words before the name, all of them flowtap's own options; those behind it are
// flowtap's where the tool has no such option.
Result<Options> parse_generic_command(const GenericTool& tool, std::vector<std::string> before,
                                      const std::vector<std::string>& behind);

}  // namespace flowtap
