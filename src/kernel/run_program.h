#pragma once
// Running programs that wait for no event: begin, end, tests, and iterators.

#include <cstdint>

#include "base/result.h"

namespace flowtap {

// Runs a raw tracepoint program once, here and now, with an empty context. Gives what it returned.
Result<uint32_t> run_program(int program_fd);

// Lets an attached iterator visit all its objects.
Status run_iterator(int link_fd);

}  // namespace flowtap
