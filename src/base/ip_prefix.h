#pragma once
// The first bits of IP addresses: 10.0.0.0/8, fe80::/10, or a whole address.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace flowtap {

struct IpPrefix {
  uint32_t words = 1;  // of four bytes: 1 for IPv4, 4 for IPv6
  // As they lie in memory.
  std::array<uint32_t, 4> mask = {};
  std::array<uint32_t, 4> network = {};
};

std::optional<IpPrefix> parse_prefix(const std::string& text);

}  // namespace flowtap
