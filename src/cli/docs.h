#pragma once
// --docs: docs/builtins.md and docs/probes.md, written from the tables of builtins/.

#include <string>
#include <string_view>

#include "base/result.h"

namespace flowtap {

// Text as a cell of a Markdown table, where a '|' would end it, also inside `code`.
std::string markdown_cell(std::string_view text);

// The text of docs/<subject>.md; an Error when there is no such subject.
Result<std::string> write_docs(const std::string& subject, const std::string& tool = {});

}  // namespace flowtap
