#pragma once
// The options of tools: those a script declares get the letter and the words that the option table
// has for them, and flowtap adds what it does for every tool of a kind.

#include <vector>

#include "cli/option_table.h"
#include "cli/tool_files.h"
#include "compiler/tool_about.h"
#include "generic/generic.h"

namespace flowtap {

// `script` is that of the tool. An Error when it cannot be parsed; the message is the first
// mistake.
Result<ToolAbout> describe_tool(const ToolFile& tool, const Script& script);
ToolAbout describe_generic(const GenericTool& tool);

// What flowtap does for a tool, unless its script does it itself.
std::vector<const OptionRow*> frame_options(const ToolAbout& tool);

// An option in help: "--port PORT" and what it means.
struct OptionText {
  std::string spelling, meaning;
};
std::vector<OptionText> option_texts(const ToolAbout& tool);

}  // namespace flowtap
