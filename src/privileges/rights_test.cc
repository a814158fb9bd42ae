// What is said about EPERM, for each thing that can be missing.

#include "privileges/rights.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace flowtap {
namespace {

constexpr uint64_t kSysAdmin = uint64_t{1} << 21;
constexpr uint64_t kPerfmon = uint64_t{1} << 38;
constexpr uint64_t kBpf = uint64_t{1} << 39;

TEST(PermissionHint, names_the_capabilities_that_are_missing) {
  EXPECT_EQ(permission_hint(0, ""), "run as root, or with CAP_BPF and CAP_PERFMON");
  EXPECT_EQ(permission_hint(kBpf, ""), "run as root, or with CAP_PERFMON");
  EXPECT_EQ(permission_hint(kPerfmon, ""), "run as root, or with CAP_BPF");
}

TEST(PermissionHint, lockdown_is_named_when_all_capabilities_are_there) {
  const char* text = "the kernel is locked down (integrity), which forbids this";
  EXPECT_EQ(permission_hint(kSysAdmin, "none [integrity] confidentiality\n"), text);
  EXPECT_EQ(permission_hint(kBpf | kPerfmon, "none [integrity] confidentiality\n"), text);
}

TEST(PermissionHint, what_cannot_be_seen_is_guessed) {
  const char* text =
      "no capability is missing: kernel lockdown, a security module or a container forbids it";
  EXPECT_EQ(permission_hint(kSysAdmin, ""), text);
  EXPECT_EQ(permission_hint(kSysAdmin, "[none] integrity confidentiality\n"), text);
  EXPECT_EQ(permission_hint(kSysAdmin, "]["), text);
}

TEST(PermissionHint, leaves_the_error_it_explains_alone) {
  errno = EPERM;
  EXPECT_FALSE(permission_hint().empty());
  EXPECT_EQ(errno, EPERM);
}

}  // namespace
}  // namespace flowtap
