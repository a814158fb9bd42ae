// Two processes hand one byte to and fro over loopback TCP for as many milliseconds as the argument
// says; prints the round trips per second of their CPU time. Both are on one CPU, which always has
// one of them to run: where nothing else runs that is the throughput, and what else runs is left out.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (sched_setaffinity(0, sizeof(first), &first)) return 1;
  char byte = 0;
  pid_t child = fork();
  if (child == 0) {
    close(client);
    while (read(server, &byte, 1) == 1)
      if (write(server, &byte, 1) != 1) break;
    _exit(0);
  }
  close(server);
  clockid_t other;
  if (clock_getcpuclockid(child, &other)) return 1;
  long trips = 0;
  double used = now(CLOCK_PROCESS_CPUTIME_ID) + now(other), end = now(CLOCK_MONOTONIC) + seconds;
  do {
    for (int i = 0; i < 100; i++, trips++)
      if (write(client, &byte, 1) != 1 || read(client, &byte, 1) != 1) return 1;
  } while (now(CLOCK_MONOTONIC) < end);
  used = now(CLOCK_PROCESS_CPUTIME_ID) + now(other) - used;
  printf("%.0f\n", (double)trips / used);
  kill(child, SIGTERM);
  return 0;
}
