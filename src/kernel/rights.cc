// Explaining EPERM. Way in: permission_hint().
//
// Three things can be missing: a capability, which the user can get; the kernel's consent under
// lockdown, which only a reboot changes; or the consent of a security module or of a container's
// system call filter, which leaves no trace for us to read.

#include "kernel/rights.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/text.h"

namespace flowtap {
namespace {

constexpr int kSysAdmin = 21;
constexpr int kPerfmon = 38;
constexpr int kBpf = 39;

uint64_t effective_capabilities() {
  std::string status = read_file("/proc/self/status").value_or("");
  size_t at = status.find("CapEff:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 16);
}

// "none [integrity] confidentiality" -> "integrity"
std::string_view chosen(std::string_view lockdown) {
  size_t open = lockdown.find('['), close = lockdown.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return lockdown.substr(open + 1, close - open - 1);
}

}  // namespace

std::string permission_hint(uint64_t capabilities, std::string_view lockdown) {
  auto has = [&](int capability) { return (capabilities >> capability & 1) != 0; };
  if (!has(kSysAdmin)) {
    std::vector<std::string> missing;
    if (!has(kBpf)) missing.push_back("CAP_BPF");
    if (!has(kPerfmon)) missing.push_back("CAP_PERFMON");
    if (!missing.empty()) return fmt::format("run as root, or with {}", join(missing, " and "));
  }
  std::string_view mode = chosen(lockdown);
  if (!mode.empty() && mode != "none")
    return fmt::format("the kernel is locked down ({}), which forbids this", mode);
  return "no capability is missing: kernel lockdown, a security module or a container forbids it";
}

std::string permission_hint() {
  int code = errno;  // the caller's, who is about to report it
  std::string hint = permission_hint(effective_capabilities(),
                                     read_file("/sys/kernel/security/lockdown").value_or(""));
  errno = code;
  return hint;
}

}  // namespace flowtap
