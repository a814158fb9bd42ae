// parse_prefix(): the text of a prefix as masks, for comparing word by word.

#include "base/ip_prefix.h"

#include <arpa/inet.h>

#include "base/text.h"

namespace flowtap {

std::optional<IpPrefix> parse_prefix(const std::string& text) {
  size_t slash = text.find('/');
  std::string address = text.substr(0, slash);
  IpPrefix prefix;
  if (inet_pton(AF_INET6, address.c_str(), prefix.network.data()) == 1)
    prefix.words = 4;
  else if (inet_pton(AF_INET, address.c_str(), prefix.network.data()) != 1)
    return std::nullopt;
  uint32_t bits = prefix.words * 32;
  if (slash != std::string::npos) {
    std::optional<int64_t> length = parse_number(text.substr(slash + 1));
    if (!length || *length < 0 || *length > bits) return std::nullopt;
    bits = static_cast<uint32_t>(*length);
  }
  for (uint32_t i = 0; i < prefix.words; i++) {
    uint32_t of_word = bits > i * 32 ? bits - i * 32 : 0;
    uint32_t mask = of_word >= 32 ? UINT32_MAX : of_word ? ~(UINT32_MAX >> of_word) : 0;
    prefix.mask[i] = htonl(mask);
    prefix.network[i] &= prefix.mask[i];
  }
  return prefix;
}

}  // namespace flowtap
