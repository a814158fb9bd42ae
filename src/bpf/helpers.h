#pragma once
// Names of kernel helpers, for dumps and messages. Numbers are the kernel's BPF_FUNC_*.

#include <cstdint>
#include <string>

namespace flowtap::bpf {

std::string helper_name(int32_t number);

}  // namespace flowtap::bpf
