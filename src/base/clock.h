#pragma once
// Clocks of the kernel as one number.

#include <time.h>

#include <cstdint>

namespace flowtap {

constexpr uint64_t kSecond = 1'000'000'000;  // in nanoseconds

inline uint64_t clock_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace flowtap
