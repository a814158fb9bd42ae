// The measured scripts (bench/events.py) as a careful person writes them in C: counters are changed in
// place, a histogram is one value, per-CPU maps where CPUs would meet. Compiled by bench/run.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct enter {
  unsigned long long common;
  long long nr;
  unsigned long long fd, buf, count;
};

struct histogram {
  __u64 buckets[66];
};

struct process {
  __u32 pid;
  char comm[16];
};

struct three {
  __u64 fd, count;
  __u32 pid, padding;
};

struct text {
  char bytes[64];
};

struct frames {
  __u64 addresses[127];
};

struct row {
  __u64 kind;
  __u32 pid;
  char comm[16];
  __u64 count;
};

#define MAP(name, kind, key_type, value_type, entries) \
  struct {                                             \
    __uint(type, kind);                                \
    __uint(max_entries, entries);                      \
    __type(key, key_type);                             \
    __type(value, value_type);                         \
  } name SEC(".maps")

MAP(total, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, __u64, 1);
MAP(by_comm, BPF_MAP_TYPE_PERCPU_HASH, char[16], __u64, 4096);
MAP(by_process, BPF_MAP_TYPE_PERCPU_HASH, struct process, struct histogram, 4096);
MAP(by_three, BPF_MAP_TYPE_PERCPU_HASH, struct three, __u64, 4096);
MAP(by_text, BPF_MAP_TYPE_PERCPU_HASH, struct text, __u64, 4096);
MAP(by_word, BPF_MAP_TYPE_PERCPU_HASH, __u64, __u64, 4096);
MAP(by_stack, BPF_MAP_TYPE_PERCPU_HASH, __u32, __u64, 4096);
MAP(started, BPF_MAP_TYPE_HASH, __u32, __u64, 4096);
MAP(room, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, struct frames, 1);
MAP(latencies, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, struct histogram, 1);

struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, 16384);
  __uint(key_size, 4);
  __uint(value_size, 127 * 8);
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4 << 20);
} rows SEC(".maps");

static const __u64 zero;
static const struct histogram no_histogram;

static __always_inline void increment(void* map, const void* key) {
  __u64* value = bpf_map_lookup_elem(map, key);
  if (!value) {
    bpf_map_update_elem(map, key, &zero, BPF_NOEXIST);
    value = bpf_map_lookup_elem(map, key);
    if (!value) return;
  }
  (*value)++;
}

static __always_inline void record(struct histogram* histogram, __u64 n) {
  __u32 shift, bucket = 0, high = n >> 32;
  __u32 v = high ? high : (__u32)n;
  if (n) {
    bucket = (v > 0xffff) << 4;
    v >>= bucket;
    shift = (v > 0xff) << 3;
    v >>= shift;
    bucket |= shift;
    shift = (v > 0xf) << 2;
    v >>= shift;
    bucket |= shift;
    shift = (v > 3) << 1;
    v >>= shift;
    bucket |= shift | (v >> 1);
    bucket += 1 + (high ? 32 : 0);
  }
  if (bucket < 66) histogram->buckets[bucket]++;
}

SEC("tracepoint/syscalls/sys_enter_read")
int count(struct enter* event) {
  __u32 key = 0;
  __u64* value = bpf_map_lookup_elem(&total, &key);
  if (value) (*value)++;
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int comm(struct enter* event) {
  char key[16] = {};
  bpf_get_current_comm(key, sizeof(key));
  increment(&by_comm, key);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int hist(struct enter* event) {
  struct process key = {.pid = bpf_get_current_pid_tgid() >> 32};
  bpf_get_current_comm(key.comm, sizeof(key.comm));
  struct histogram* value = bpf_map_lookup_elem(&by_process, &key);
  if (!value) {
    bpf_map_update_elem(&by_process, &key, &no_histogram, BPF_NOEXIST);
    value = bpf_map_lookup_elem(&by_process, &key);
    if (!value) return 0;
  }
  record(value, event->count);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int latency_enter(struct enter* event) {
  __u32 tid = bpf_get_current_pid_tgid();
  __u64 now = bpf_ktime_get_ns();
  bpf_map_update_elem(&started, &tid, &now, BPF_ANY);
  return 0;
}

SEC("tracepoint/syscalls/sys_exit_read")
int latency_exit(void* event) {
  __u32 tid = bpf_get_current_pid_tgid(), key = 0;
  __u64* start = bpf_map_lookup_elem(&started, &tid);
  if (!start) return 0;
  struct histogram* value = bpf_map_lookup_elem(&latencies, &key);
  if (value) record(value, bpf_ktime_get_ns() - *start);
  bpf_map_delete_elem(&started, &tid);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int three(struct enter* event) {
  struct three key = {.fd = event->fd, .count = event->count, .pid = bpf_get_current_pid_tgid() >> 32};
  increment(&by_three, &key);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int text(struct enter* event) {
  struct text key = {};
  bpf_probe_read_user_str(key.bytes, sizeof(key.bytes), (void*)event->buf);
  increment(&by_text, &key);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int stack(struct enter* event) {
  __u32 key = bpf_get_stackid(event, &stacks, 0);
  increment(&by_stack, &key);
  return 0;
}

// What nobody can leave out: finding the stack, reading the string.
SEC("tracepoint/syscalls/sys_enter_read")
int only_walk(struct enter* event) {
  __u32 key = 0;
  struct frames* frames = bpf_map_lookup_elem(&room, &key);
  if (frames) bpf_get_stack(event, frames, sizeof(*frames), 0);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int only_text(struct enter* event) {
  struct text text;
  bpf_probe_read_user_str(text.bytes, sizeof(text.bytes), (void*)event->buf);
  return 0;
}

// Counted by its first eight bytes only: one lookup of the smallest key.
SEC("tracepoint/syscalls/sys_enter_read")
int only_word(struct enter* event) {
  struct text text;
  bpf_probe_read_user_str(text.bytes, sizeof(text.bytes), (void*)event->buf);
  increment(&by_word, text.bytes);
  return 0;
}

SEC("tracepoint/syscalls/sys_enter_read")
int row(struct enter* event) {
  struct row* row = bpf_ringbuf_reserve(&rows, sizeof(*row), 0);
  if (!row) return 0;
  row->kind = 0;
  row->pid = bpf_get_current_pid_tgid() >> 32;
  bpf_get_current_comm(row->comm, sizeof(row->comm));
  row->count = event->count;
  bpf_ringbuf_submit(row, 0);
  return 0;
}

char license_text[] SEC("license") = "GPL";
