// Explaining EPERM. Way in: permission_hint().
//
// Three things can be missing: a capability, which the user can get; the kernel's consent under
// lockdown, which only a reboot changes; or the consent of a security module or of a container's
// system call filter, which leaves no trace for us to read.

#include "privileges/rights.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

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

// CAP_SYS_ADMIN includes the others.
std::vector<std::string> missing_from(uint64_t capabilities) {
  auto has = [&](int capability) { return (capabilities >> capability & 1) != 0; };
  std::vector<std::string> missing;
  if (has(kSysAdmin)) return missing;
  if (!has(kBpf)) missing.push_back("CAP_BPF");
  if (!has(kPerfmon)) missing.push_back("CAP_PERFMON");
  return missing;
}

constexpr const char* kLockdownFile = "/sys/kernel/security/lockdown";

}  // namespace

std::string permission_hint(uint64_t capabilities, std::string_view lockdown) {
  std::vector<std::string> missing = missing_from(capabilities);
  if (!missing.empty()) return fmt::format("run as root, or with {}", join(missing, " and "));
  std::string_view mode = chosen(lockdown);
  if (!mode.empty() && mode != "none")
    return fmt::format("the kernel is locked down ({}), which forbids this", mode);
  return "no capability is missing: kernel lockdown, a security module or a container forbids it";
}

std::string permission_hint() {
  int code = errno;  // the caller has yet to use it
  std::string hint =
      permission_hint(effective_capabilities(), read_file(kLockdownFile).value_or(""));
  errno = code;
  return hint;
}

std::string perf_hint() {
  int code = errno;
  std::string paranoid(trim(read_file("/proc/sys/kernel/perf_event_paranoid").value_or("")));
  errno = code;
  bool is_strict = parse_number(paranoid).value_or(0) > 2;
  if (code != EACCES || !is_strict) return permission_hint();
  return fmt::format("run as root: kernel.perf_event_paranoid = {} forbids it to others", paranoid);
}

std::vector<std::string> missing_capabilities() { return missing_from(effective_capabilities()); }

std::string lockdown_mode() { return std::string(chosen(read_file(kLockdownFile).value_or(""))); }

}  // namespace flowtap
