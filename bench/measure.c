// Runs a command and prints its wall time in ms and peak memory in KiB. A small parent, because
// the peak that the kernel reports for a child begins with the size of its parent at fork.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec a, b;
  struct rusage usage;
  int status;
  if (argc < 2) return 2;
  clock_gettime(CLOCK_MONOTONIC, &a);
  pid_t pid = vfork();
  if (pid == 0) {
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  wait4(pid, &status, 0, &usage);
  clock_gettime(CLOCK_MONOTONIC, &b);
  fprintf(stderr, "%.3f %ld\n", (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6, usage.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
