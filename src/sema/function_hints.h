#pragma once
// What the compiler says about kernel functions that no longer show what they did.

#include <string>
#include <string_view>

#include "target/target.h"

namespace flowtap {

// What to trace in place of a function that this machine does not have; empty when unknown.
std::string hint_for_function(std::string_view function, const Target& target);

// Why a function that exists sees little of what it once saw; empty when it does.
std::string why_off_path(std::string_view function, const Target& target);

}  // namespace flowtap
