// Entry points: run_program(), run_iterator(), read_iterator(). BPF_PROG_TEST_RUN was made for
// tests of the kernel, but it is also the simplest way to run a program on demand: no uprobe on
// ourselves is needed.

#include "kernel/run_program.h"

#include <bpf/bpf.h>

#include <functional>
#include <span>

#include "base/fd.h"
#include "privileges/rights.h"
#include "target/feature.h"

namespace flowtap {

Result<uint32_t> run_program(int program_fd) {
  uint64_t context[12] = {};  // the most arguments that the kernel takes
  LIBBPF_OPTS(bpf_test_run_opts, opts);
  opts.ctx_in = context;
  opts.ctx_size_in = sizeof context;
  if (::bpf_prog_test_run_opts(program_fd, &opts) < 0)
    return errno_error("cannot run a program", errno == EPERM
                                                   ? permission_hint()
                                                   : feature_row(Feature::RunPrograms).needed());
  return opts.retval;
}

static Status visit_all(int link_fd, const std::atomic<bool>* stop,
                        const std::function<void(std::span<const std::byte>)>& take) {
  Fd fd(::bpf_iter_create(link_fd));
  if (!fd.valid()) return errno_error("cannot start an iterator");
  std::byte text[4096];
  ssize_t length;
  while (!(stop && *stop) && (length = ::read(fd.get(), text, sizeof text)) != 0) {
    // EAGAIN: the iterator has done much and wants to be called again.
    if (length < 0 && errno != EAGAIN && errno != EINTR)
      return errno_error("cannot read from an iterator");
    if (length > 0) take(std::span(text).first(static_cast<size_t>(length)));
  }
  return Done{};
}

Status run_iterator(int link_fd, const std::atomic<bool>* stop) {
  return visit_all(link_fd, stop, [](std::span<const std::byte>) {});
}

Result<std::vector<std::byte>> read_iterator(int link_fd) {
  std::vector<std::byte> all;
  Status visited = visit_all(link_fd, nullptr, [&](std::span<const std::byte> part) {
    all.insert(all.end(), part.begin(), part.end());
  });
  if (!visited) return visited.error();
  return all;
}

// The kernel waits for all running programs when the map within a map is replaced: whoever does
// that wants to know when the old one is unused.
Status wait_for_programs() {
  Fd inner(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", 4, 8, 1, nullptr));
  LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = static_cast<uint32_t>(inner.get()));
  Fd outer(::bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", 4, 4, 1, &opts));
  const uint32_t key = 0;
  const int value = inner.get();
  if (!inner.valid() || !outer.valid() ||
      ::bpf_map_update_elem(outer.get(), &key, &value, BPF_ANY) < 0)
    return errno_error("cannot wait for running programs");
  return Done{};
}

}  // namespace flowtap
