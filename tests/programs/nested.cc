// A program for tests of dw_ustack: known calls without frame pointers, one for each line it reads,
// after it has said that the last one is done:
//
//   chain     main -> outer -> middle -> inner
//   align     main -> realigned -> inner
//   sort      main -> qsort of the C library -> compare -> inner
//   deep N    main -> descend N times, and once more -> inner
//   signal    main -> raise -> a handler -> inner
//   spin      main -> spin_outer -> spin_inner, which is busy for a fifth of a second
//   load      loads the C library once more, whose qsort is called from then on
//   again     becomes itself anew, at other addresses
//
// `inner` writes nothing to a pipe, which is a system call of its own.

#pragma GCC optimize("O2,omit-frame-pointer")

#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

#define CALLED __attribute__((noinline, noclone))

static volatile int nobody_looks;

CALLED int inner(int n) {
  char room[200];
  std::memset(room, n, sizeof room);
  int written = static_cast<int>(write(2, room, 0));
  nobody_looks = room[n & 127];
  return written + n;
}

CALLED int middle(int n) {
  volatile char* room = static_cast<char*>(__builtin_alloca(static_cast<unsigned>(n) * 16 + 16));
  room[n] = 1;  // the size of this frame is known by its frame pointer only
  return inner(n) + room[n];
}

CALLED int outer(int n) { return middle(n + 1) * 3; }

// With arguments on the stack, a frame of unknown size and one of its own alignment, the caller's
// frame is found by an address that the function has noted in memory.
CALLED int realigned(int n, int, int, int, int, int, int seventh) {
  alignas(64) char room[128];
  std::memset(room, n, sizeof room);
  char* more = static_cast<char*>(__builtin_alloca(static_cast<unsigned>(n) * 8 + 8));
  asm volatile("" : : "r"(room), "r"(more) : "memory");
  return inner(n) + room[n] + seventh;
}

CALLED int compare(const void* a, const void* b) {
  return inner(0) + *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

CALLED int descend(int n) { return n == 0 ? inner(n) + 1 : descend(n - 1) * 3 + nobody_looks; }

CALLED void handle(int) { nobody_looks = inner(1) + 1; }

CALLED int spin_inner() {
  timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += 200'000'000;
  int n = 0;
  do {
    for (int i = 0; i < 100'000; i++) nobody_looks = n += i;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - end.tv_sec) * 1'000'000'000 + now.tv_nsec < end.tv_nsec);
  return n;
}

CALLED int spin_outer() { return spin_inner() * 3; }
}

int main(int, char** arguments) {
  signal(SIGUSR1, handle);
  void (*sort)(void*, size_t, size_t, int (*)(const void*, const void*)) = std::qsort;
  char line[64];
  auto next_line = [&] {
    std::puts("done");
    std::fflush(stdout);
    return std::fgets(line, sizeof line, stdin) != nullptr;
  };
  while (next_line()) {
    if (std::strcmp(line, "chain\n") == 0) nobody_looks = outer(2);
    if (std::strcmp(line, "align\n") == 0) nobody_looks = realigned(3, 2, 3, 4, 5, 6, 7) + 1;
    if (std::strcmp(line, "sort\n") == 0) {
      int numbers[] = {2, 1};
      sort(numbers, 2, sizeof(int), compare);
    }
    if (std::strcmp(line, "load\n") == 0) {
      void* library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
      sort = reinterpret_cast<decltype(sort)>(dlsym(library, "qsort"));
    }
    if (std::strncmp(line, "deep ", 5) == 0) nobody_looks = descend(std::atoi(line + 5));
    if (std::strcmp(line, "signal\n") == 0) raise(SIGUSR1);
    if (std::strcmp(line, "spin\n") == 0) nobody_looks = spin_outer();
    if (std::strcmp(line, "again\n") == 0) execv("/proc/self/exe", arguments);
  }
  return 0;
}
