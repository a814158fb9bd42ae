#pragma once
// CHECK(condition): states what must be true if flowtap itself is right. When it is not, the
// fault is ours: say where, ask for a report, and leave with the exit code reserved for it.

#include <cstdio>
#include <cstdlib>

namespace flowtap {

inline constexpr int kExitBug = 4;

[[noreturn]] inline void check_failed(const char* file, int line, const char* what) {
  std::fprintf(
      stderr,
      "flowtap: internal error at %s:%d: %s\nplease report this with the script that caused it\n",
      file, line, what);
  std::_Exit(kExitBug);
}

}  // namespace flowtap

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::flowtap::check_failed(__FILE__, __LINE__, #condition))
#define UNREACHABLE(why) ::flowtap::check_failed(__FILE__, __LINE__, why)
