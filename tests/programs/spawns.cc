// A program for tests: starts children that end at once, one after the other.
//   spawns COUNT

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int i = 0; i < count; i++) {
    pid_t child = vfork();
    if (child == 0) _exit(0);
    if (child < 0 || waitpid(child, nullptr, 0) != child) return 1;
  }
  return 0;
}
