// Dropping capabilities. Way in: drop_rights(). What is kept, and for what:
//
//   CAP_BPF, CAP_PERFMON     running the end and report programs, reading maps, iterators, room for
//                            unwind tables
//   CAP_SYS_PTRACE           /proc/PID/maps and /proc/PID/root of any process, for its symbols and
//                            unwind tables
//   CAP_CHECKPOINT_RESTORE   /proc/PID/map_files, when a mapped file was deleted
//   CAP_DAC_READ_SEARCH      reading binaries, cgroup paths, and files of cat()
//   CAP_SYSLOG               addresses in /proc/kallsyms, which is read when first needed
//
// Everything else goes, above all CAP_SYS_ADMIN and the rights to write files of others, to load
// modules and to become another user. Detaching needs none: it is closing descriptors.

#include "privileges/drop_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flowtap {

uint64_t kept_capabilities(const LaterNeeds& needs) {
  uint64_t kept = 0;
  for (int capability : {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE,
                         CAP_DAC_READ_SEARCH, CAP_SYSLOG})
    kept |= uint64_t{1} << capability;
  if (needs.writes_files) kept |= uint64_t{1} << CAP_DAC_OVERRIDE;
  if (needs.has_child) kept |= uint64_t{1} << CAP_KILL;
  return kept;
}

Status drop_rights(const LaterNeeds& needs) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};  // low half, high half
  if (::syscall(SYS_capget, &header, sets) < 0) return errno_error("cannot read our capabilities");
  uint64_t kept = kept_capabilities(needs);
  for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
    uint32_t mask = static_cast<uint32_t>(kept >> (32 * half));
    sets[half].effective &= mask;
    sets[half].permitted &= mask;
    sets[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, sets) < 0) return errno_error("cannot give up capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return errno_error("cannot forbid new privileges");
  return Done{};
}

}  // namespace flowtap
