// Calls read(2) on /dev/zero as often as its argument says: a load of known count.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 0;
  int fd = open("/dev/zero", O_RDONLY);
  char bytes[64];
  for (long i = 0; i < calls; i++)
    if (read(fd, bytes, 1 + (i & 63)) < 0) return 1;
  return 0;
}
