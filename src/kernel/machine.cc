// Facts of the running machine, each from one place in the kernel; see machine.h.

#include "kernel/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace flowtap {

uint32_t count_cpus() {
  return static_cast<uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
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

// Lines are "ffffffff81000000 T name" or, for a module, "... t name\t[module]".
std::optional<uint64_t> find_kernel_symbol(std::string_view name) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/kallsyms", "re"), std::fclose);
  if (!file) return std::nullopt;
  char line[512];
  while (std::fgets(line, sizeof line, file.get())) {
    char* end = nullptr;
    uint64_t address = std::strtoull(line, &end, 16);
    if (end[0] != ' ' || end[1] == '\0' || end[2] != ' ') continue;
    std::string_view symbol(end + 3);
    symbol = symbol.substr(0, symbol.find_first_of("\t\n "));
    if (symbol == name) return address ? std::optional(address) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace flowtap
