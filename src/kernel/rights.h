#pragma once
// Why the kernel said "not permitted", in words that help.

#include <cstdint>
#include <string>
#include <string_view>

namespace flowtap {

// What to do about an EPERM of bpf(2) or perf_event_open(2).
std::string permission_hint();

// The same from given facts: the effective capabilities, and the text of
// /sys/kernel/security/lockdown, which is empty when it cannot be read.
std::string permission_hint(uint64_t capabilities, std::string_view lockdown);

}  // namespace flowtap
