// first_run KIND NAP COMMAND...: starts a tracer, makes events all the time, and watches the BPF programs that come into the
// kernel. Prints the tracer's process id, the milliseconds from its start until each of its programs that these events
// reach has run, and how many of them it was on a CPU; then waits until it ends. Needs kernel.bpf_stats_enabled = 1.
// The watcher keeps one CPU busy, but for naps of so many microseconds, and leaves the others to the tracer. Both go before ordinary processes, so that what else
// the machine does is left out.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMostPrograms = 1024, kLimitMs = 120000, kQuietMs = 100 };
// A program that a tracer runs once by itself, as for 'begin', has not seen an event.
enum { kRuns = 3 };

struct watched {
  int fd;
  unsigned id;
};

static struct watched programs[kMostPrograms];
static int program_count;
static unsigned last_id;

static int bpf(int command, union bpf_attr* attr) { return (int)syscall(SYS_bpf, command, attr, sizeof(*attr)); }

static double milliseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// True when there is a program with a higher id than the last one; that is now the last one.
static int next_program(void) {
  union bpf_attr attr = {.start_id = last_id};
  if (bpf(BPF_PROG_GET_NEXT_ID, &attr)) return 0;
  last_id = attr.next_id;
  return 1;
}

static void watch_new_programs(void) {
  while (program_count < kMostPrograms && next_program()) {
    union bpf_attr attr = {.prog_id = last_id};
    int fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
    if (fd >= 0) programs[program_count++] = (struct watched){fd, last_id};
  }
}

static int has_run(int fd) {
  struct bpf_prog_info info = {};
  union bpf_attr attr = {.info = {.bpf_fd = fd, .info_len = sizeof(info), .info = (unsigned long)&info}};
  return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && info.run_cnt >= kRuns;
}

// Others may load programs at the same time: only one whose descriptor the tracer holds is its own.
static int holds_program(pid_t pid, unsigned id) {
  char path[300], line[100];
  snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
  DIR* folder = opendir(path);
  int is_found = 0;
  for (struct dirent* entry; folder && !is_found && (entry = readdir(folder));) {
    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
    FILE* file = fopen(path, "r");
    unsigned found;
    while (file && fgets(line, sizeof(line), file)) is_found |= sscanf(line, "prog_id: %u", &found) == 1 && found == id;
    if (file) fclose(file);
  }
  if (folder) closedir(folder);
  return is_found;
}

// TCP with itself: a message to and fro reaches what looks at data, a refused connection what looks at states.
static int talker, listener_side;
static struct sockaddr_in nobody = {.sin_family = AF_INET};

static int prepare_tcp(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int listener = socket(AF_INET, SOCK_STREAM, 0), unused = socket(AF_INET, SOCK_STREAM, 0);
  nobody.sin_addr = address.sin_addr;
  // A port that is bound without listening refuses, and nobody else gets it.
  if (bind(unused, (struct sockaddr*)&nobody, size) || getsockname(unused, (struct sockaddr*)&nobody, &size)) return 0;
  if (bind(listener, (struct sockaddr*)&address, size) || listen(listener, 1)) return 0;
  getsockname(listener, (struct sockaddr*)&address, &size);
  talker = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(talker, (struct sockaddr*)&address, size)) return 0;
  listener_side = accept(listener, NULL, NULL);
  return listener_side >= 0;
}

static void make_tcp_events(void) {
  char byte = 0;
  int caller = socket(AF_INET, SOCK_STREAM, 0);
  if (write(talker, &byte, 1) == 1 && read(listener_side, &byte, 1) == 1) connect(caller, (struct sockaddr*)&nobody, sizeof(nobody));
  close(caller);
}

static void make_file_events(void) {
  char byte;
  if (open("", O_RDONLY) < 0 && read(-1, &byte, 1) < 0) return;
}

// What the tracer's process notes when all that is left to do is to become the tracer.
struct beginning {
  double wall, on_cpu;
};

static pid_t start(char** command, int watcher_cpu, struct beginning* beginning) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  cpu_set_t others;
  sched_getaffinity(0, sizeof(others), &others);
  CPU_CLR(watcher_cpu, &others);
  sched_setaffinity(0, sizeof(others), &others);
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
  *beginning = (struct beginning){milliseconds(CLOCK_MONOTONIC), milliseconds(CLOCK_PROCESS_CPUTIME_ID)};
  execv(command[0], command);
  _exit(127);
}

static void stay_on(int cpu) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(cpu, &own);
  sched_setaffinity(0, sizeof(own), &own);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  unsigned nap = (unsigned)atoi(argv[2]);
  int is_tcp = strcmp(argv[1], "tcp") == 0, status = 0, cpu = sched_getcpu();
  if (is_tcp && !prepare_tcp()) return 1;
  struct sched_param first_in_line = {.sched_priority = 1};
  if (get_nprocs() < 2 || sched_setscheduler(0, SCHED_FIFO, &first_in_line)) return 1;
  while (next_program()) continue;
  struct beginning* beginning = mmap(NULL, sizeof(*beginning), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t pid = start(argv + 3, cpu, beginning);
  stay_on(cpu);
  clockid_t clock;
  if (pid < 0 || clock_getcpuclockid(pid, &clock)) return 1;
  double first = milliseconds(CLOCK_MONOTONIC), now = 0, wall = 0, on_cpu = 0, held = 0;
  // Programs that come one after the other are waited for as long as all took so far.
  while (now < (wall == 0 ? kLimitMs : 2 * wall + kQuietMs)) {
    if (nap) usleep(nap);
    is_tcp ? make_tcp_events() : make_file_events();
    watch_new_programs();
    for (int i = 0; i < program_count; i++) {
      if (programs[i].fd < 0 || !has_run(programs[i].fd)) continue;
      double ran = milliseconds(CLOCK_MONOTONIC);
      // The kernel knows how long another process was on a CPU when it leaves it.
      kill(pid, SIGSTOP);
      waitpid(pid, &status, WUNTRACED);
      if (holds_program(pid, programs[i].id)) wall = ran - beginning->wall - held, on_cpu = milliseconds(clock) - beginning->on_cpu;
      kill(pid, SIGCONT);
      held += milliseconds(CLOCK_MONOTONIC) - ran;
      close(programs[i].fd);
      programs[i].fd = -1;
    }
    now = milliseconds(CLOCK_MONOTONIC) - first;
    if (wall == 0 && waitpid(pid, &status, WNOHANG) != 0) return 1;
  }
  if (wall == 0) kill(pid, SIGKILL);
  else printf("%d %.3f %.3f\n", pid, wall, on_cpu);
  fflush(stdout);
  waitpid(pid, &status, 0);
  return wall == 0;
}
