#pragma once
// Where scripts come from: the command line, a file, standard input, and what they import.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "compiler/script.h"

namespace flowtap {

// Whether a name on the command line is that of a script rather than a pattern or a tool.
bool is_file(const std::string& name);

// Reads and parses; "stdin" is the name of -e and "-".
Result<Script> read_script(const Options& options);
Script parse_tool(const ToolFile& tool, std::vector<std::string> parameters = {});

// The text of a script. Named pipes, devices and sockets are refused: they could block, or never
// end. The pipe of a process substitution, <(command), is read.
Result<std::string> read_text(const std::string& path);

// The files behind `import "path"`: one file, or all scripts of a directory. Those that must be
// safe may not be changed by others.
Result<std::vector<std::pair<std::string, std::string>>> read_import(const std::string& folder,
                                                                     const std::string& path,
                                                                     bool must_be_safe = false);

}  // namespace flowtap
