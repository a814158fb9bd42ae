#include "base/ip_prefix.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(IpPrefix, ipv4) {
  std::optional<IpPrefix> prefix = parse_prefix("10.255.3.4/12");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->words, 1u);
  EXPECT_EQ(ntohl(prefix->mask[0]), 0xfff00000u);
  EXPECT_EQ(ntohl(prefix->network[0]), 0x0af00000u);
}

TEST(IpPrefix, ipv6_across_words) {
  std::optional<IpPrefix> prefix = parse_prefix("2001:db8:ffff::/33");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->words, 4u);
  EXPECT_EQ(ntohl(prefix->mask[0]), 0xffffffffu);
  EXPECT_EQ(ntohl(prefix->mask[1]), 0x80000000u);
  EXPECT_EQ(prefix->mask[2], 0u);
  EXPECT_EQ(ntohl(prefix->network[1]), 0x80000000u);
}

TEST(IpPrefix, whole_addresses_and_everything) {
  EXPECT_EQ(parse_prefix("1.2.3.4")->mask[0], UINT32_MAX);
  EXPECT_EQ(parse_prefix("::1")->mask[3], UINT32_MAX);
  EXPECT_EQ(parse_prefix("0.0.0.0/0")->mask[0], 0u);
}

TEST(IpPrefix, refuses_the_rest) {
  for (const char* text : {"", "/8", "10.0.0/8", "10.0.0.0/33", "::/129", "10.0.0.0/",
                           "10.0.0.0/-1", "10.0.0.0/8x", "localhost"})
    EXPECT_FALSE(parse_prefix(text)) << text;
}

}  // namespace
}  // namespace flowtap
