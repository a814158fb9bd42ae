#pragma once
// --docs: docs/builtins.md and docs/probes.md, written from the tables of builtins/.

#include <string>

#include "base/result.h"

namespace flowtap {

// The text of docs/<subject>.md; an Error when there is no such subject.
Result<std::string> write_docs(const std::string& subject, const std::string& tool = {});

}  // namespace flowtap
