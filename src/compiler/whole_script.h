#pragma once
// A script with all that it imports, as one text.

#include <string>

#include "compiler/script.h"

namespace flowtap {

// C definitions come first, then settings, the imported scripts under their names, and the rest of
// the script. It means the same as the script with its imports.
std::string whole_script(const Script& script);

}  // namespace flowtap
