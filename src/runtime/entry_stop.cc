// Holds the command of -c at its entry point, by ptrace(2). Way in: EntryStop::watch() before exec,
// then wait() and let_go().
//
//   exec    the kernel stops the child; a breakpoint is written to the entry point, whose address
//           the kernel tells in /proc/PID/auxv
//   linker  runs, maps libraries, jumps to the entry point: the breakpoint stops the child
//   here    the breakpoint is taken back, and so is the step over it
//
// Nothing must go wrong for the command: whatever happens it is let go, without the breakpoint.

#include "runtime/entry_stop.h"

#include <elf.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include <array>
#include <cstring>
#include <utility>

#include "arch/arch.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"

namespace flowtap {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;

uint64_t entry_of(pid_t pid) {
  std::string text = read_file(fmt::format("/proc/{}/auxv", pid)).value_or("");
  Bytes words = std::as_bytes(std::span(text));
  for (size_t at = 0; at + 16 <= words.size(); at += 16)
    if (load<uint64_t>(words, at) == AT_ENTRY) return load<uint64_t>(words, at + 8);
  return 0;
}

bool is_stop_at_exec(int status) {
  return WIFSTOPPED(status) && status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

// The compiler's headers want pointers where the kernel wants numbers.
void* number(uint64_t value) { return reinterpret_cast<void*>(value); }

// The registers of a stopped process, which begin like struct pt_regs.
class StoppedRegisters {
 public:
  explicit StoppedRegisters(pid_t pid) : pid_(pid) {}

  bool read() {
    return ::ptrace(PTRACE_GETREGSET, pid_, number(NT_PRSTATUS), &part_) == 0 &&
           part_.iov_len >= place() + sizeof(uint64_t);
  }
  bool write() { return ::ptrace(PTRACE_SETREGSET, pid_, number(NT_PRSTATUS), &part_) == 0; }
  uint64_t instruction() const { return load<uint64_t>(bytes_, place()); }
  void set_instruction(uint64_t address) {
    std::memcpy(bytes_.data() + place(), &address, sizeof address);
  }

 private:
  static size_t place() { return static_cast<size_t>(host_arch().instruction); }

  pid_t pid_;
  std::array<std::byte, 1024> bytes_{};
  iovec part_{.iov_base = bytes_.data(), .iov_len = bytes_.size()};
};

uint64_t breakpoint_mask() { return ~uint64_t{0} >> (64 - 8 * host_arch().breakpoint.size); }

}  // namespace

Result<EntryStop> EntryStop::watch(pid_t pid) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, number(PTRACE_O_TRACEEXEC)) != 0)
    return errno_error("cannot hold the command at its start");
  return EntryStop(pid);
}

EntryStop::EntryStop(EntryStop&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      is_stopped_(other.is_stopped_),
      entry_(other.entry_),
      code_(other.code_) {}

// False when it has ended, or nothing came for too long.
bool EntryStop::wait_for_stop(int& status) {
  uint64_t end = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  while (clock_ns(CLOCK_MONOTONIC) < end && !is_out_of_time()) {
    // Not consumed when it has ended: others wait for that too.
    siginfo_t info = {};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) !=
        0)
      return false;
    if (info.si_pid != 0 && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
      pid_ = 0;
      return false;
    }
    if (info.si_pid != 0) {
      is_stopped_ = ::waitpid(pid_, &status, WNOHANG) == pid_;
      return is_stopped_;
    }
    timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
    ::nanosleep(&moment, nullptr);
  }
  return false;
}

bool EntryStop::set_breakpoint() {
  uint64_t entry = entry_of(pid_);
  errno = 0;
  code_ = ::ptrace(PTRACE_PEEKTEXT, pid_, number(entry), nullptr);
  // A probe may be there already, which would take the breakpoint for its own.
  uint64_t code = static_cast<uint64_t>(code_), mask = breakpoint_mask();
  uint64_t breakpoint = host_arch().breakpoint.code;
  if (entry == 0 || errno != 0 || (code & mask) == breakpoint) return false;
  uint64_t changed = (code & ~mask) | breakpoint;
  if (::ptrace(PTRACE_POKETEXT, pid_, number(entry), number(changed)) != 0) return false;
  entry_ = entry;
  return true;
}

bool EntryStop::is_at_breakpoint() {
  StoppedRegisters registers(pid_);
  return registers.read() && registers.instruction() == entry_ + host_arch().breakpoint.advance;
}

void EntryStop::remove_breakpoint() {
  if (entry_ == 0) return;
  ::ptrace(PTRACE_POKETEXT, pid_, number(entry_), number(static_cast<uint64_t>(code_)));
  StoppedRegisters registers(pid_);
  if (registers.read() && registers.instruction() == entry_ + host_arch().breakpoint.advance) {
    registers.set_instruction(entry_);
    registers.write();
  }
  entry_ = 0;
}

bool EntryStop::wait() {
  int status = 0;
  while (pid_ != 0 && wait_for_stop(status)) {
    uint64_t signal = 0;
    if (is_stop_at_exec(status)) {
      if (!set_breakpoint()) return false;
    } else if (WSTOPSIG(status) == SIGTRAP && entry_ != 0 && is_at_breakpoint()) {
      remove_breakpoint();
      return true;
    } else if (status >> 16 == 0) {
      signal = static_cast<uint64_t>(WSTOPSIG(status));  // somebody else's, which it shall have
    }
    if (::ptrace(PTRACE_CONT, pid_, nullptr, number(signal)) != 0) return false;
    is_stopped_ = false;
  }
  return false;
}

void EntryStop::let_go() {
  if (pid_ == 0) return;
  if (!is_stopped_) {
    int status;
    if (::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) != 0 || !wait_for_stop(status)) return;
  }
  remove_breakpoint();
  ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
  pid_ = 0;
}

}  // namespace flowtap
