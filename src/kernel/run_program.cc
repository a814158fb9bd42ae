// Ways in: run_program(), run_iterator(). BPF_PROG_TEST_RUN was made for tests of the kernel, but
// it is also the simplest way to run a program on demand: no uprobe on ourselves is needed.

#include "kernel/run_program.h"

#include <bpf/bpf.h>

#include "base/fd.h"
#include "kernel/rights.h"

namespace flowtap {

Result<uint32_t> run_program(int program_fd) {
  uint64_t context[12] = {};  // the most arguments that the kernel takes
  LIBBPF_OPTS(bpf_test_run_opts, opts);
  opts.ctx_in = context;
  opts.ctx_size_in = sizeof context;
  if (::bpf_prog_test_run_opts(program_fd, &opts) < 0)
    return errno_error("cannot run a program",
                       errno == EPERM ? permission_hint() : "this needs Linux 5.10 or later");
  return opts.retval;
}

Status run_iterator(int link_fd) {
  Fd fd(::bpf_iter_create(link_fd));
  if (!fd.valid()) return errno_error("cannot start an iterator");
  char text[4096];
  ssize_t length;
  while ((length = ::read(fd.get(), text, sizeof text)) != 0)
    // EAGAIN: the iterator has done much and wants to be called again.
    if (length < 0 && errno != EAGAIN && errno != EINTR)
      return errno_error("cannot read from an iterator");
  return Done{};
}

}  // namespace flowtap
