// Two processes hand one byte to and fro for as many milliseconds as the argument says, over
// loopback TCP and, in turns of a millisecond, through pipes. Prints how many round trips through
// pipes take as much CPU time as one over TCP; the median of all turns. What slows the whole
// machine down cancels out. Both processes are on one CPU, which always has one of them to run.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kTrips = 50, kMaxTurns = 10000 };

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int call(int out, int in) {
  char byte = 0;
  for (int i = 0; i < kTrips; i++)
    if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1) return 0;
  return 1;
}

static int answer(int out, int in) {
  char byte = 0;
  for (int i = 0; i < kTrips; i++)
    if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1) return 0;
  return 1;
}

static int ascending(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  double seconds = (argc > 1 ? atof(argv[1]) : 1000) / 1e3;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, size) || listen(listener, 1)) return 1;
  getsockname(listener, (struct sockaddr*)&address, &size);
  if (connect(client, (struct sockaddr*)&address, size)) return 1;
  int server = accept(listener, NULL, NULL);
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  int there[2], back[2];
  if (pipe(there) || pipe(back)) return 1;
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (sched_setaffinity(0, sizeof(first), &first)) return 1;
  pid_t child = fork();
  if (child == 0) {
    close(client);
    while (answer(server, server) && answer(back[1], there[0])) {
    }
    _exit(0);
  }
  close(server);
  clockid_t other;
  if (clock_getcpuclockid(child, &other)) return 1;
  static double ratios[kMaxTurns];
  int turns = 0;
  double end = now(CLOCK_MONOTONIC) + seconds;
  do {
    double begin = now(CLOCK_PROCESS_CPUTIME_ID) + now(other);
    if (!call(client, client)) return 1;
    double between = now(CLOCK_PROCESS_CPUTIME_ID) + now(other);
    if (!call(there[1], back[0])) return 1;
    double all = now(CLOCK_PROCESS_CPUTIME_ID) + now(other) - begin;
    ratios[turns++] = (between - begin) / (all - (between - begin));
  } while (turns < kMaxTurns && now(CLOCK_MONOTONIC) < end);
  qsort(ratios, (size_t)turns, sizeof(ratios[0]), ascending);
  printf("%.4f\n", ratios[turns / 2]);
  kill(child, SIGTERM);
  return 0;
}
