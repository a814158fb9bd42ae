// Calls read(2) on /dev/null as often as its argument says: a load of known count. Sizes vary from
// 1 to 64; the buffer is never filled, so that it holds one of eight names for who reads it as text.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char names[8][64] = {"/etc/passwd",  "/etc/hosts",     "/usr/lib/locale",         "/var/log/syslog",
                              "/proc/meminfo", "/dev/urandom", "/usr/share/zoneinfo/UTC", "/tmp"};
  long calls = argc > 1 ? atol(argv[1]) : 0;
  int fd = open("/dev/null", O_RDONLY);
  for (long i = 0; i < calls; i++)
    if (read(fd, names[i & 7], 1 + (i & 63)) < 0) return 1;
  return 0;
}
