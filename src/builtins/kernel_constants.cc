// Macros of the kernel's own headers, which neither BTF nor the UAPI headers have. Only such as
// have had one value since Linux 5.10, on all CPUs.

#include "builtins/kernel_constants.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace flowtap {

namespace {

struct KernelConstant {
  std::string_view name;
  int64_t value;
};

constexpr KernelConstant kKernelConstants[] = {
    // include/linux/sched.h: task_struct.__state, and prev_state of sched_switch
    {"TASK_RUNNING", 0},
    {"TASK_INTERRUPTIBLE", 0x1},
    {"TASK_UNINTERRUPTIBLE", 0x2},
    {"__TASK_STOPPED", 0x4},
    {"__TASK_TRACED", 0x8},
    {"EXIT_DEAD", 0x10},
    {"EXIT_ZOMBIE", 0x20},
    {"EXIT_TRACE", 0x30},
    {"TASK_PARKED", 0x40},
    {"TASK_DEAD", 0x80},
    {"TASK_WAKEKILL", 0x100},
    {"TASK_WAKING", 0x200},
    {"TASK_NOLOAD", 0x400},
    {"TASK_NEW", 0x800},
    {"TASK_KILLABLE", 0x102},
    {"TASK_STOPPED", 0x104},
    {"TASK_IDLE", 0x402},
    {"TASK_NORMAL", 0x3},
    // the same: task_struct.flags
    {"PF_IDLE", 0x2},
    {"PF_EXITING", 0x4},
    {"PF_WQ_WORKER", 0x20},
    {"PF_FORKNOEXEC", 0x40},
    {"PF_SUPERPRIV", 0x100},
    {"PF_DUMPCORE", 0x200},
    {"PF_SIGNALED", 0x400},
    {"PF_MEMALLOC", 0x800},
    {"PF_KSWAPD", 0x20000},
    {"PF_KTHREAD", 0x200000},
    {"PF_RANDOMIZE", 0x400000},
    // include/linux/sched/prio.h
    {"MAX_RT_PRIO", 100},
    {"DEFAULT_PRIO", 120},
    {"MAX_PRIO", 140},
    // include/linux/fs.h: file.f_mode
    {"FMODE_READ", 0x1},
    {"FMODE_WRITE", 0x2},
    {"FMODE_LSEEK", 0x4},
    {"FMODE_EXEC", 0x20},
    // include/linux/kdev_t.h, include/linux/blk_types.h
    {"MINORBITS", 20},
    {"MINORMASK", 0xfffff},
    {"SECTOR_SHIFT", 9},
    {"SECTOR_SIZE", 512},
    {"REQ_OP_BITS", 8},
    {"REQ_OP_MASK", 0xff},
    // include/net/tcp.h: tcp_skb_cb.tcp_flags
    {"TCPHDR_FIN", 0x1},
    {"TCPHDR_SYN", 0x2},
    {"TCPHDR_RST", 0x4},
    {"TCPHDR_PSH", 0x8},
    {"TCPHDR_ACK", 0x10},
    {"TCPHDR_URG", 0x20},
    {"TCPHDR_ECE", 0x40},
    {"TCPHDR_CWR", 0x80},
    // include/linux/time64.h
    {"MSEC_PER_SEC", 1000},
    {"USEC_PER_MSEC", 1000},
    {"USEC_PER_SEC", 1000000},
    {"NSEC_PER_USEC", 1000},
    {"NSEC_PER_MSEC", 1000000},
    {"NSEC_PER_SEC", 1000000000},
};

}  // namespace

std::optional<int64_t> find_kernel_constant(std::string_view name) {
  auto found = std::find_if(std::begin(kKernelConstants), std::end(kKernelConstants),
                            [&](const KernelConstant& row) { return row.name == name; });
  if (found == std::end(kKernelConstants)) return std::nullopt;
  return found->value;
}

std::string_view successor_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kSuccessors[] = {
      {"REQ_WRITE", "REQ_OP_WRITE"},
      {"REQ_DISCARD", "REQ_OP_DISCARD"},
      {"REQ_FLUSH", "REQ_PREFLUSH"},
      {"REQ_SECURE", "REQ_OP_SECURE_ERASE"},
      {"REQ_WRITE_SAME", "REQ_OP_WRITE_ZEROES"},
      {"WRITE_SYNC", "REQ_SYNC"},
      {"READA", "REQ_RAHEAD"},
  };
  auto found = std::find_if(std::begin(kSuccessors), std::end(kSuccessors),
                            [&](const auto& pair) { return pair.first == name; });
  return found == std::end(kSuccessors) ? "" : found->second;
}

std::string enumerator_of_flag(std::string_view name) {
  return name.starts_with("REQ_") ? "__" + std::string(name) : "";
}

}  // namespace flowtap
