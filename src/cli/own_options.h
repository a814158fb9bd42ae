#pragma once
// Options of flowtap itself that make sense with a tool.

#include <cstddef>
#include <string_view>

namespace flowtap {

// How many words an option of flowtap itself takes, 2 when its value stands apart; 0 for any other
// word.
size_t own_length(std::string_view word);

}  // namespace flowtap
