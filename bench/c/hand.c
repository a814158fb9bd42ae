// Loads and attaches those programs of hand.bpf.o whose name begins with the second argument, says
// "attached", reads rows and throws them away, and ends with SIGINT.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

static volatile sig_atomic_t is_done;

static void stop(int signal) { is_done = signal; }

static int take(void* context, void* data, size_t size) { return 0; }

int main(int argc, char** argv) {
  struct bpf_program* program;
  if (argc != 3) return 2;
  signal(SIGINT, stop);
  struct bpf_object* object = bpf_object__open_file(argv[1], NULL);
  if (!object) return 1;
  bpf_object__for_each_program(program, object)
      bpf_program__set_autoload(program, strncmp(bpf_program__name(program), argv[2], strlen(argv[2])) == 0);
  if (bpf_object__load(object)) return 1;
  bpf_object__for_each_program(program, object)
      if (bpf_program__autoload(program) && !bpf_program__attach(program)) return 1;
  struct ring_buffer* rows = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "rows"), take, NULL, NULL);
  puts("attached");
  fflush(stdout);
  while (!is_done) ring_buffer__poll(rows, 100);
  return 0;
}
