#pragma once
// Texts about tools, all made from what the tools say of themselves.

#include <string>

#include "base/result.h"
#include "compiler/tool_about.h"

namespace flowtap {

std::string tool_help(const ToolAbout& tool);
std::string tool_man_page(const ToolAbout& tool);
// `flowtap tools`: one line each, by layer.
std::string tools_list();
// docs/tools.md: the tools that the binary carries.
std::string tools_page();

}  // namespace flowtap
