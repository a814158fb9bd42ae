#pragma once
// Whether tests may use bpf(2) here. For tests only.

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/fd.h"

namespace flowtap::testing_support {

// Empty, or why not.
inline std::string no_bpf() {
  Fd fd(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, 8, 1, nullptr));
  if (fd.valid()) return {};
  return std::string("bpf(2) is refused: ") + std::strerror(errno);
}

}  // namespace flowtap::testing_support

#define SKIP_WITHOUT_BPF()                                  \
  do {                                                      \
    std::string why = ::flowtap::testing_support::no_bpf(); \
    if (!why.empty()) GTEST_SKIP() << why;                  \
  } while (false)
