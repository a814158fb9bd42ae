#pragma once
// Tools that are found by their name run with the rights of flowtap, usually root's. So nobody else
// may be able to change them.

#include <string>

#include "base/result.h"

namespace flowtap {

// An error that names the part of the path, and why, when anybody but root and the user who runs
// flowtap can change what the path leads to: a directory on the way, a link, or the file itself.
Status refuse_what_others_can_change(const std::string& path);

}  // namespace flowtap
