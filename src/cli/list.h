#pragma once
// -l: what can be traced here.

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace flowtap {

// One name a line, sorted within each kind; with arguments when verbose. An Error when nothing
// matches, saying what may help.
Result<std::string> list_probes(const Target& target, const std::string& search, bool is_verbose);

}  // namespace flowtap
