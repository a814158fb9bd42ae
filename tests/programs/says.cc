// Says one line through puts(3).
#include <cstdio>

int main() {
  std::puts("hello from puts");
  return 0;
}
