#pragma once
// The body of a function of the script, for one call.

#include <vector>

#include "lang/ast.h"

namespace flowtap {

// `number` tells this call's variables from those of all others. Without arguments (null) the
// parameters get no value: for functions that are checked but never called.
FnCall instantiate(const Function& function, std::vector<ExprPtr>* args, uint32_t number,
                   uint32_t& next_id);

}  // namespace flowtap
