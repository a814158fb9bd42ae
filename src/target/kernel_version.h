#pragma once
// Versions of Linux, as far as features depend on them.

#include <charconv>
#include <compare>
#include <cstdint>
#include <string_view>

namespace flowtap {

struct KernelVersion {
  uint16_t major = 0, minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

// "6.18.44-fc" -> 6.18. Zero for what is no version.
inline KernelVersion parse_kernel_version(std::string_view release) {
  KernelVersion version;
  const char* end = release.data() + release.size();
  auto [dot, error] = std::from_chars(release.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.') return {};
  if (std::from_chars(dot + 1, end, version.minor).ec != std::errc()) return {};
  return version;
}

}  // namespace flowtap
