#pragma once
// The whole program behind main(): options in, exit code out.

namespace flowtap {

inline constexpr int kExitScript = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitKernel = 3;

int drive(int argc, char** argv);

}  // namespace flowtap
