#pragma once
// Running programs that wait for no event: begin, end, tests, and iterators.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace flowtap {

// Runs a raw tracepoint program once, here and now, with an empty context. Gives what it returned.
Result<uint32_t> run_program(int program_fd);

// Lets an attached iterator visit all its objects, or those it comes to until `stop`.
Status run_iterator(int link_fd, const std::atomic<bool>* stop = nullptr);

// The same; gives what its program wrote.
Result<std::vector<std::byte>> read_iterator(int link_fd);

// Returns when every program that was running has ended.
Status wait_for_programs();

}  // namespace flowtap
