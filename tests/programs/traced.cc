// A program for tests of user-space probes: known functions, called known numbers of times, and
// USDT markers with every kind of argument.
//   traced [ROUNDS [MILLISECONDS]]   rounds to do (3), and how long to stay afterwards (0)

#include <sys/sdt.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

struct Point {
  int x;
  short y;
  char name[8];
  Point* next;
};

namespace shapes {
__attribute__((noinline)) int area(int width, int height) {
  asm volatile("");
  return width * height;
}
}  // namespace shapes

extern "C" {

uint64_t global_counter = 7;

__attribute__((noinline)) int add_numbers(int a, int b) {
  asm volatile("");
  return a + b;
}

__attribute__((noinline)) long eight_arguments(long a, long b, long c, long d, long e, long f,
                                               long g, long h) {
  asm volatile("");
  return a + b + c + d + e + f + g + h;
}

__attribute__((noinline)) const char* take_text(const char* text, const Point* point) {
  asm volatile("");
  return point ? point->name : text;
}
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  Point last{7, -2, "last", nullptr};
  Point first{5, -1, "first", &last};
  int total = 0;
  // Probes cannot wait for a page that is not in memory yet, so both texts are read once before.
  const char *plain = "plain text", *marker = "marker";
  total += *const_cast<const volatile char*>(plain) + *const_cast<const volatile char*>(marker);
  for (int i = 0; i < rounds; i++) {
    total += add_numbers(i, 10);
    total += shapes::area(i, 2);
    total += static_cast<int>(eight_arguments(1, 2, 3, 4, 5, 6, 70 + i, 80));
    take_text(plain, &first);
    volatile int8_t tiny = static_cast<int8_t>(-i);
    volatile uint16_t small = static_cast<uint16_t>(60000 + i);
    volatile int64_t large = -5'000'000'000LL - i;
    DTRACE_PROBE(traced, round);
    DTRACE_PROBE5(traced, values, i, tiny, small, large, marker);
    DTRACE_PROBE1(traced, constant, 42);
  }
  if (argc > 2) usleep(static_cast<useconds_t>(std::atoi(argv[2])) * 1000);
  return total > 0 ? 0 : 1;
}
