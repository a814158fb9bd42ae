#pragma once
// --docs: the pages under docs/, the man pages and the completion script that flowtap writes from
// its tables.

#include <string>
#include <string_view>

#include "base/result.h"

namespace flowtap {

// The text of docs/<subject>.md and the like; an Error when there is no such subject.
Result<std::string> write_docs(const std::string& subject, const std::string& tool = {});

}  // namespace flowtap
