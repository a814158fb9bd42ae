// Structs that exist only in the debug information: cases read them through uprobes.

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// The compiler must not leave out what only a probe reads.
#define USED(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

enum color { RED = -1, GREEN = 5, BLUE };
typedef enum { SMALL, LARGE = 300 } extent_t;

union number {
  uint32_t whole;
  uint8_t bytes[4];
};

struct inner {
  int16_t depth;
  struct {
    uint8_t low : 3;
    uint8_t high : 5;
    int32_t : 0;
    int32_t negative : 7;
    uint64_t wide : 40;
  };
};

typedef struct {
  char tag[4];
} label_t;

// Has the name of a struct of the kernel.
struct file {
  long serial;
};

struct node {
  const char* name;
  enum color color;
  extent_t extent;
  struct inner inner;
  struct inner* behind;
  union number number;
  union {
    int32_t as_int;
    uint16_t as_pair[2];
  };
  int64_t table[2][3];
  struct node* next;
  label_t labels[2];
  double ratio;
  int (*call)(int);
  _Bool is_on;
  struct file* file;
  char text[8];
} __attribute__((aligned(64)));

struct packed {
  uint8_t first;
  uint32_t bits : 31;
  uint64_t far;
} __attribute__((packed));

// Ways from one struct to another.
struct ways {
  struct inner* each[3];
  struct {
    struct inner* only;
  } within[2];
};

__attribute__((noinline)) int take_ways(struct ways* ways) {
  USED(ways);
  return ways != NULL;
}

__attribute__((noinline)) int take_node(struct node* node, struct packed* packed, enum color color,
                                        label_t* label) {
  USED(node);
  return node->color + packed->first + (int)color + label->tag[0];
}

__attribute__((noinline)) int take_raw(void* node) {
  USED(node);
  return node != NULL;
}

int main(int argc, char** argv) {
  struct file file = {77};
  struct inner behind = {-9, {1, 2, -3, 4}};
  struct node last = {.name = "last", .color = BLUE, .text = "end"};
  struct node first = {.name = "first",
                       .color = RED,
                       .extent = LARGE,
                       .inner = {-300, {5, 17, -60, 0x123456789aULL}},
                       .behind = &behind,
                       .number = {0x04030201},
                       .as_int = 0x00020001,
                       .table = {{1, 2, 3}, {4, 5, -6}},
                       .next = &last,
                       .labels = {{"ab"}, {"cde"}},
                       .ratio = 1.5,
                       .is_on = 1,
                       .file = &file,
                       .text = "begin"};
  struct packed packed = {200, 0x7654321, 0x1122334455667788ULL};
  struct inner other = {12, {0}};
  struct ways ways = {{&behind, &other, &behind}, {{&behind}, {&other}}};
  // Probes cannot wait for a page that is not in memory yet.
  char touched = *(volatile char*)first.name + *(volatile char*)last.name;
  int total = touched;
  USED(&first);
  USED(&last);
  USED(&behind);
  USED(&packed);
  USED(&file);
  USED(&other);
  for (int i = 0; i < 2; i++) {
    total += take_node(&first, &packed, GREEN, &first.labels[1]);
    total += take_raw(&first);
    total += take_ways(&ways);
  }
  if (argc > 1) usleep((useconds_t)atoi(argv[1]) * 1000);
  return total == 0;
}
