#pragma once
// Where scripts come from: the command line, a file, standard input, and what they import.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace flowtap {

struct ScriptText {
  std::string name;  // as messages show it: "stdin" for -e and "-"
  std::string text;
  std::string folder;  // what imports are relative to
};

// Whether a name on the command line is that of a script rather than a pattern or a tool.
bool is_file(const std::string& name);

Result<ScriptText> read_script(const Options& options);

// Anybody could put a script into a directory that everybody may write to.
Status refuse_world_writable(const std::string& path);

// The files behind `import "path"`: one file, or all scripts of a directory.
Result<std::vector<std::pair<std::string, std::string>>> read_import(const std::string& folder,
                                                                     const std::string& path);

}  // namespace flowtap
