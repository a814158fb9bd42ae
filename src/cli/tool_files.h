#pragma once
// Where tools come from: directories of the user, then the scripts that the binary carries.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace flowtap {

struct ToolFile {
  std::string name;  // "tcplife"
  std::string path;  // as messages show it: "tools/tcplife.bt" for one that is carried
  std::string text;
  std::string folder;  // what its imports are relative to; empty for one that is carried
};

// Directories are searched in this order: $FLOWTAP_TOOLS (several, with ':' between them), then
// ~/.config/flowtap/tools. A tool there hides one of the same name that is carried.
std::vector<std::string> tool_directories();

// Nothing when there is no such tool. An error when others could change it.
Result<std::optional<ToolFile>> find_tool(const std::string& name);
// Every tool by name; those that cannot be read are left out.
std::vector<ToolFile> all_tools();

// What `import "path"` names: a file beside the script, or else one of the library that is carried.
// Imports of tools must be as safe as the tools.
Result<std::vector<std::pair<std::string, std::string>>> read_tool_import(const std::string& folder,
                                                                          const std::string& path,
                                                                          bool must_be_safe);

}  // namespace flowtap
