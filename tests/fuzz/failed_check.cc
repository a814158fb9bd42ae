// A CHECK that fails leaves with its own exit code, which libFuzzer would not see as a crash. The
// linker sends calls of _Exit here (--wrap).

#include <cstdlib>

#include "base/check.h"

extern "C" [[noreturn]] void __real__Exit(int code);
extern "C" [[noreturn]] void __wrap__Exit(int code) {
  if (code == flowtap::kExitBug) std::abort();
  __real__Exit(code);
}
