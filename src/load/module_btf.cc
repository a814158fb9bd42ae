// Finding a module's BTF object. Way in: open_module_btf(). There is no lookup by name: all BTF
// objects of the system are walked, programs' and the kernel's, until one has it.

#include "load/module_btf.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <string_view>

#include "privileges/rights.h"

namespace flowtap {

static bool is_kernel_btf_named(int fd, std::string_view name) {
  char buffer[64] = {};
  bpf_btf_info info = {};
  info.name = reinterpret_cast<uint64_t>(buffer);
  info.name_len = sizeof buffer;
  uint32_t size = sizeof info;
  return ::bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.kernel_btf && name == buffer;
}

Result<Fd> open_module_btf(const std::string& module) {
  uint32_t id = 0;
  while (::bpf_btf_get_next_id(id, &id) == 0) {
    Fd fd(::bpf_btf_get_fd_by_id(id));
    // One that has gone in the meantime is no reason to stop.
    if (fd.valid() && is_kernel_btf_named(fd.get(), module)) return fd;
  }
  int code = errno == ENOENT ? 0 : errno;
  return Error{fmt::format("cannot find the BTF of kernel module '{}'", module), code,
               code == EPERM ? permission_hint() : "is the module still loaded?"};
}

}  // namespace flowtap
