#pragma once
// Reading directories. The iterators of std::filesystem throw when a directory cannot be read on.

#include <string>
#include <vector>

#include "base/result.h"

namespace flowtap {

// The names in a directory, sorted, without "." and "..".
Result<std::vector<std::string>> names_in(const std::string& directory);

// The path without links, "." and ".."; as it is when it does not exist.
std::string real_path(const std::string& path);

}  // namespace flowtap
