// Signals by signalfd(2); see signals.h. The mask of the thread is put back at the end, which
// matters to tests and to whoever runs several scripts in one process.

#include "runtime/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/interrupt.h"

namespace flowtap {

Result<Signals> Signals::hold() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::sigaddset(&set, signal);
  Signals signals;
  ::pthread_sigmask(SIG_BLOCK, &set, &signals.before_);
  signals.fd_ = Fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals.fd_.valid()) return errno_error("cannot wait for signals");
  forget_interrupt();
  return signals;
}

Signals::~Signals() {
  if (fd_.valid()) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::next() {
  signalfd_siginfo info;
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  int signal = static_cast<int>(info.ssi_signo);
  if (signal != SIGUSR1) note_interrupt(signal);
  return signal;
}

}  // namespace flowtap
