// Detaching. Ways in: detach(), then close_in_background() with what is left.
//
// Closing a link takes the program away from the event. Closing a tracepoint's or kprobe's perf
// event then makes the kernel wait until no CPU can be inside any more, tens of milliseconds for
// each and one after the other under a mutex: half a minute for all system calls. Nothing depends
// on it, so a small process is left behind to sit it out.

#include "attach/detach.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/parallel.h"

namespace flowtap {
namespace {

constexpr size_t kMostClosers = 32;

void move_all(std::vector<Fd>& from, std::vector<Fd>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

// Closing a link may wait as well, but links wait side by side.
void close_links(std::vector<Fd> links) {
  size_t count = std::min(links.size(), kMostClosers);
  if (count < 2) return;
  in_parallel(count, [&](size_t first) {
    for (size_t i = first; i < links.size(); i += count) links[i].reset();
  });
}

void close_between(int first, int last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0) == 0) return;
  for (int fd = first; fd <= std::min(last, 65536); fd++) ::close(fd);  // before Linux 5.9
}

// Holds nothing but these, least of all a pipe that somebody reads to its end. Who closes a
// descriptor last is the one who waits: so it lets ours go first, which the end of `signal` tells.
[[noreturn]] void sit_it_out(const std::vector<int>& kept, int signal) {
  ::setsid();
  ::prctl(PR_SET_NAME, "flowtap-detach");
  int next = 0;
  for (int fd : kept) {
    close_between(next, fd - 1);
    next = fd + 1;
  }
  close_between(next, INT32_MAX);
  char unused;
  while (::read(signal, &unused, 1) < 0 && errno == EINTR) {
  }
  ::_exit(0);  // which closes the rest
}

}  // namespace

std::vector<Fd> detach(std::vector<Attachment> attachments) {
  std::vector<Fd> links, events;
  for (Attachment& attachment : attachments) {
    if (!attachment.pin.empty()) ::unlink(attachment.pin.c_str());
    if (attachment.is_gated && !attachment.links.empty()) {
      links.push_back(std::move(attachment.links.back()));
      attachment.links.pop_back();
      move_all(attachment.links, events);
    }
    move_all(attachment.links, links);
    move_all(attachment.events, events);
  }
  close_links(std::move(links));
  return events;
}

void close_in_background(std::vector<Fd> fds) {
  if (fds.empty()) return;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return;  // then they are closed here and now
  Fd signal(ends[0]), held(ends[1]);
  std::vector<int> kept{signal.get()};
  for (const Fd& fd : fds)
    if (fd.valid()) kept.push_back(fd.get());
  std::sort(kept.begin(), kept.end());
  // Twice, so that the one that stays is nobody's child to wait for.
  pid_t pid = ::fork();
  if (pid == 0) {
    if (::fork() == 0) sit_it_out(kept, signal.get());
    ::_exit(0);
  }
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  fds.clear();
  held.reset();
}

}  // namespace flowtap
