// Resolves names as its lines of input say, "gethostbyname_r some.name", and answers each with a line of JSON: the
// function, the name, its result as the C library calls it, and the time it took. Two calls are special: "jump" leaves
// getaddrinfo() from a signal handler by siglongjmp(), "untouched" gives getaddrinfo() a name in a page not read before.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <netdb.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

struct Name {
  int number;
  const char* text;
};
#define NAME(x) {x, #x}
const Name kEai[] = {NAME(EAI_BADFLAGS), NAME(EAI_NONAME), NAME(EAI_AGAIN),  NAME(EAI_FAIL),   NAME(EAI_FAMILY),
                     NAME(EAI_SOCKTYPE), NAME(EAI_SERVICE), NAME(EAI_MEMORY), NAME(EAI_SYSTEM), NAME(EAI_OVERFLOW),
                     {-5, "EAI_NODATA"}, {-9, "EAI_ADDRFAMILY"}};
const Name kHost[] = {NAME(HOST_NOT_FOUND), NAME(TRY_AGAIN), NAME(NO_RECOVERY), NAME(NO_DATA), {-1, "NETDB_INTERNAL"}};

template <size_t N>
const char* name_of(const Name (&names)[N], int number) {
  for (const Name& name : names)
    if (name.number == number) return name.text;
  return "?";
}

const char* address_info(const char* host) {
  addrinfo* found = nullptr;
  int result = getaddrinfo(host, nullptr, nullptr, &found);
  if (result == 0) freeaddrinfo(found);
  return result ? name_of(kEai, result) : "";
}

sigjmp_buf before;
void jump(int) { siglongjmp(before, 1); }

const char* jump_out(const char* host) {
  std::signal(SIGALRM, jump);
  if (sigsetjmp(before, 1)) return "left";
  itimerval soon = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  return address_info(host);
}

const char* untouched(const char* host) {
  int file = memfd_create("name", 0);
  if (write(file, host, std::strlen(host) + 1) < 0) return "?";
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return address_info(static_cast<const char*>(page));
}

const char* resolve(const char* call, const char* host) {
  static char buffer[8192];
  hostent entry, *found = nullptr;
  int error = 0;
  if (!std::strcmp(call, "getaddrinfo")) return address_info(host);
  if (!std::strcmp(call, "untouched")) return untouched(host);
  if (!std::strcmp(call, "jump")) return jump_out(host);
  if (!std::strcmp(call, "gethostbyname")) {
    found = gethostbyname(host);
    error = h_errno;
  } else if (!std::strcmp(call, "gethostbyname2")) {
    found = gethostbyname2(host, AF_INET6);
    error = h_errno;
  } else if (!std::strcmp(call, "gethostbyname_r")) {
    gethostbyname_r(host, &entry, buffer, sizeof buffer, &found, &error);
  } else if (!std::strcmp(call, "gethostbyname2_r")) {
    gethostbyname2_r(host, AF_INET, &entry, buffer, sizeof buffer, &found, &error);
  } else {
    return "no such call";
  }
  return found ? "" : name_of(kHost, error);
}

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace

int main() {
  char call[64], host[256];
  while (std::scanf("%63s %255s", call, host) == 2) {
    double began = now();
    const char* result = resolve(call, host);
    std::printf("{\"call\": \"%s\", \"host\": \"%s\", \"result\": \"%s\", \"ms\": %.6f}\n", call, host, result, now() - began);
    std::fflush(stdout);
  }
  return 0;
}
