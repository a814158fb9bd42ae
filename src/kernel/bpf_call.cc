// Calling bpf(2). Way in: call_bpf().

#include "kernel/bpf_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace flowtap {

// The verifier gives up with EAGAIN when a signal comes, and may be asked again.
int call_bpf(bpf_cmd command, const bpf_attr& attr) {
  constexpr int kAttempts = 5;
  long result = -1;
  for (int i = 0; i < kAttempts; i++) {
    result = ::syscall(SYS_bpf, command, &attr, sizeof attr);
    if (result >= 0 || errno != EAGAIN) break;
  }
  return static_cast<int>(result);
}

}  // namespace flowtap
