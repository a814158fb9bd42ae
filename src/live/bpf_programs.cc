// Asking the kernel for its BPF programs; see bpf_programs.h. They have numbers, which are walked.

#include "live/bpf_programs.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include "base/fd.h"
#include "kernel/program_btf.h"
#include "privileges/rights.h"

namespace flowtap {

namespace {

std::vector<uint32_t> function_ids(int fd, const bpf_prog_info& known) {
  if (known.func_info_rec_size != sizeof(FunctionInfo)) return {};
  std::vector<FunctionInfo> functions(known.nr_func_info);
  bpf_prog_info wanted = {};
  uint32_t size = sizeof wanted;
  wanted.nr_func_info = known.nr_func_info;
  wanted.func_info_rec_size = known.func_info_rec_size;
  wanted.func_info = reinterpret_cast<uint64_t>(functions.data());
  std::vector<uint32_t> ids;
  if (::bpf_obj_get_info_by_fd(fd, &wanted, &size) != 0) return ids;
  for (const FunctionInfo& function : functions) ids.push_back(function.type);
  return ids;
}

}  // namespace

Result<std::vector<BpfProgram>> list_bpf_programs() {
  std::vector<BpfProgram> programs;
  uint32_t id = 0;
  while (::bpf_prog_get_next_id(id, &id) == 0) {
    Fd fd(::bpf_prog_get_fd_by_id(id));
    bpf_prog_info info = {};
    uint32_t size = sizeof info;
    // One that has gone in the meantime is no reason to stop.
    if (!fd.valid() || ::bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0) continue;
    BpfProgram program{.id = id, .name = info.name};
    program.is_tracing = info.type == BPF_PROG_TYPE_TRACING || info.type == BPF_PROG_TYPE_EXT;
    program.btf = info.btf_id;
    if (info.btf_id) program.functions = function_ids(fd.get(), info);
    programs.push_back(std::move(program));
  }
  if (errno == ENOENT) return programs;
  return errno_error("cannot list the BPF programs", errno == EPERM ? permission_hint() : "");
}

Result<std::vector<std::byte>> read_loaded_btf(uint32_t id) {
  std::string what = fmt::format("cannot read the BTF of a BPF program (id {})", id);
  Fd fd(::bpf_btf_get_fd_by_id(id));
  if (!fd.valid()) return errno_error(what);
  bpf_btf_info info = {};
  uint32_t size = sizeof info;
  if (::bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0) return errno_error(what);
  std::vector<std::byte> bytes(info.btf_size);
  info = {.btf = reinterpret_cast<uint64_t>(bytes.data()),
          .btf_size = static_cast<uint32_t>(bytes.size())};
  if (::bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0) return errno_error(what);
  return bytes;
}

}  // namespace flowtap
