#pragma once
// The BTF object of a kernel module, by which bpf(2) knows the types and functions in it.

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

Result<Fd> open_module_btf(const std::string& module);

}  // namespace flowtap
