#pragma once
// Many kernel functions by one link: since Linux 5.18, where the kernel was built with fprobes.

#include <cstdint>
#include <span>

#include "base/fd.h"
#include "bpf/image.h"

namespace flowtap {

// The entry or return of a function, found by its name.
bool is_plain_kprobe(const AttachPoint& point);

// A program for several such places, and no others: it is loaded for a link of this type where the
// kernel has it, and can then be attached in no other way.
bool is_for_many_functions(const Program& program);

// By name or by address; the other list is empty. Invalid, with errno, on failure.
struct KprobeMulti {
  std::span<const char* const> names;
  std::span<const uint64_t> addresses;
  bool is_return = false;
};
Fd link_kprobe_multi(int program_fd, const KprobeMulti& probes);

bool has_kprobe_multi();

}  // namespace flowtap
