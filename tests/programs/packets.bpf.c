// A BPF program that tests trace with fentry:bpf.

#include <linux/bpf.h>

struct limits {
  int least;
  long most;
};

int seen;

__attribute__((noinline)) int within(struct limits* limits, int length) {
  if (!limits) return 0;
  return length >= limits->least && length <= limits->most;
}

__attribute__((section("tc"), used)) int count_packets(struct __sk_buff* skb) {
  struct limits limits = {10, 1000};
  seen++;
  return within(&limits, (int)skb->len) ? 7 : 0;
}

char text_license[] __attribute__((section("license"), used)) = "GPL";
