#pragma once
// Wall time as text: strftime(3) plus %f for microseconds.

#include <cstdint>
#include <string>
#include <string_view>

namespace flowtap {

// In the local time zone. `ns` counts from 1970.
void append_time(std::string& out, uint64_t ns, std::string_view format);

}  // namespace flowtap
