#pragma once
// Why the kernel said "not permitted", in words that help.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

// What to do about an EPERM of bpf(2). These leave errno as it is.
std::string permission_hint();
// The same for EPERM and EACCES of perf_event_open(2).
std::string perf_hint();

// Of those that tracing needs, by name.
std::vector<std::string> missing_capabilities();
// "none", "integrity" or "confidentiality"; empty when it cannot be read.
std::string lockdown_mode();

// The same from given facts: the effective capabilities, and the text of
// /sys/kernel/security/lockdown, which is empty when it cannot be read.
std::string permission_hint(uint64_t capabilities, std::string_view lockdown);

}  // namespace flowtap
