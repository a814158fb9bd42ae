// Threads by the dozen; see parallel.h.

#include "base/parallel.h"

#include <system_error>
#include <thread>
#include <vector>

namespace flowtap {

void in_parallel(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  size_t started = 0;
  try {
    for (; started < count; started++) threads.emplace_back(work, started);
  } catch (const std::system_error&) {  // the limit of processes or of memory
    for (size_t i = started; i < count; i++) work(i);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace flowtap
