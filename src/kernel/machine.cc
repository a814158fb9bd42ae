// Facts of the running machine, each from one place in the kernel; see machine.h.

#include "kernel/machine.h"

#include <fcntl.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace flowtap {

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& range : split(trim(text), ',')) {
    int first = 0;
    const char* end = range.data() + range.size();
    auto [after, error] = std::from_chars(range.data(), end, first);
    if (error != std::errc()) continue;
    int last = first;
    if (after < end && *after == '-') std::from_chars(after + 1, end, last);
    for (int cpu = first; cpu <= last; cpu++) cpus.push_back(cpu);
  }
  return cpus;
}

static std::vector<int> cpus_in(const char* name) {
  std::string path = std::string("/sys/devices/system/cpu/") + name;
  std::vector<int> cpus = parse_cpu_list(read_file(path).value_or(""));
  return cpus.empty() ? std::vector<int>{0} : cpus;
}

std::vector<int> online_cpus() { return cpus_in("online"); }

// It is asked for every map and program, and stays what it is.
uint32_t count_possible_cpus() {
  static const uint32_t kCount = static_cast<uint32_t>(cpus_in("possible").size());
  return kCount;
}

KernelVersion running_version() {
  utsname system{};
  ::uname(&system);
  return parse_kernel_version(system.release);
}

// A cgroup's id is the number of its kernfs node, which the kernel gives away as a file handle of
// eight bytes. (The inode number is the same one on 64-bit kernels since 5.5, not before.)
std::optional<uint64_t> find_cgroup_id(const std::string& path) {
  struct {
    struct file_handle header;
    unsigned char space[MAX_HANDLE_SZ];
  } handle = {};
  handle.header.handle_bytes = sizeof(uint64_t);
  int mount_id = 0;
  if (::name_to_handle_at(AT_FDCWD, path.c_str(), &handle.header, &mount_id, 0) < 0)
    return std::nullopt;
  if (handle.header.handle_bytes != sizeof(uint64_t)) return std::nullopt;
  uint64_t id;
  std::memcpy(&id, handle.header.f_handle, sizeof id);
  return id;
}

bool is_kernel_since(int major, int minor) {
  utsname system = {};
  int has_major = 0, has_minor = 0;
  if (::uname(&system) < 0) return false;
  if (std::sscanf(system.release, "%d.%d", &has_major, &has_minor) != 2) return false;
  return std::pair(has_major, has_minor) >= std::pair(major, minor);
}

}  // namespace flowtap
