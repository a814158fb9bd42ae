// A program for tests of -p and of USDT semaphores: for each line it reads it calls a function,
// hits its marker if somebody has set the marker's semaphore, and says what the semaphore was.

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <cstdio>

extern "C" {

// The linker gathers semaphores in .probes; tracers count up and down in it.
__attribute__((section(".probes"), used)) volatile unsigned short guarded_line_semaphore = 0;

__attribute__((noinline)) int take_line(int number) {
  asm volatile("");
  return number + 1;
}
}

int main() {
  char line[64];
  int number = 0;
  while (std::fgets(line, sizeof line, stdin)) {
    number = take_line(number);
    if (guarded_line_semaphore) DTRACE_PROBE1(guarded, line, number);
    std::printf("%d\n", guarded_line_semaphore);
    std::fflush(stdout);
  }
  return 0;
}
