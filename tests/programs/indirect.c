// Functions that the dynamic linker chooses (IFUNC), as a library and as a program.
//
//   indirect         waits for a line, then calls each function 1,000 times, and waits for another line
#include <stdio.h>

typedef int Function(int);

__attribute__((noinline)) static int twice(int value) { return 2 * value; }
__attribute__((noinline)) static int thrice(int value) { return 3 * value; }

// Begins with an instruction that the kernel's uprobes get wrong.
int by_vector(int value);
asm(".text; .type by_vector,@function; by_vector: vpcmpeqb %xmm1,%xmm1,%xmm1; lea (%rdi,%rdi),%eax; ret; .size by_vector, .-by_vector");

static Function* resolve_plain(void) { return twice; }
static Function* resolve_vector(void) { return by_vector; }
static Function* resolve_never(void) { return thrice; }

int chosen_plain(int value) __attribute__((ifunc("resolve_plain")));
int chosen_too(int value) __attribute__((ifunc("resolve_plain_too")));
int chosen_vector(int value) __attribute__((ifunc("resolve_vector")));
int chosen_never(int value) __attribute__((ifunc("resolve_never"), used));
static Function* resolve_plain_too(void) { return twice; }

int main(void) {
  volatile int sum = 0;
  getchar();
  for (int i = 0; i < 1000; i++) sum += chosen_plain(i) + chosen_vector(i);
  for (int i = 0; i < 1000; i++) sum += chosen_too(i);
  puts("called");
  fflush(stdout);
  getchar();
  return sum == 0;
}
