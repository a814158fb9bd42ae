// Functions of BPF programs; see live_programs.h.
//
// What a BPF program calls its context is not what it gets: the verifier rewrites its accesses to
// those of a struct of the kernel. Who traces it sees the latter. Structs that the kernel has too
// are taken from there: a program that was compiled elsewhere may know them otherwise, since its
// accesses are moved when it is loaded.

#include "live/live_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "live/bpf_programs.h"
#include "target/btf_signatures.h"

namespace flowtap {

namespace {

struct ContextName {
  std::string_view program, kernel;
};

constexpr ContextName kContexts[] = {
    {"struct __sk_buff", "struct sk_buff"},
    {"struct xdp_md", "struct xdp_buff"},
    {"struct sk_msg_md", "struct sk_msg"},
    {"struct bpf_sock", "struct sock"},
    {"struct bpf_sock_addr", "struct bpf_sock_addr_kern"},
    {"struct bpf_sock_ops", "struct bpf_sock_ops_kern"},
    {"struct bpf_sockopt", "struct bpf_sockopt_kern"},
    {"struct bpf_sysctl", "struct bpf_sysctl_kern"},
    {"struct bpf_sk_lookup", "struct bpf_sk_lookup_kern"},
    {"struct sk_reuseport_md", "struct sk_reuseport_kern"},
    {"struct bpf_perf_event_data", "struct bpf_perf_event_data_kern"},
};

Type kernel_pointer(LiveTypes& types, const Type& type) {
  if (!is(type, Kind::Pointer) || !is(type->element, Kind::Struct)) return type;
  std::string name = type->element->name;
  for (const ContextName& context : kContexts)
    if (name == context.program) name = context.kernel;
  Type known = types.find(name);
  return known ? pointer_type(known, AddressSpace::Kernel) : type;
}

}  // namespace

Result<std::vector<BpfFunction>> find_bpf_functions(LiveTypes& types, std::string_view program,
                                                    std::string_view function) {
  Result<std::vector<BpfProgram>> programs = list_bpf_programs();
  if (!programs) return programs.error();
  std::vector<BpfFunction> found;
  for (const BpfProgram& each : *programs) {
    if (!program.empty() && !glob_match(program, std::to_string(each.id))) continue;
    const LiveTypes::Source* source =
        each.functions.empty() ? nullptr
                               : types.program(fmt::format("{}{}", kBpfModule, each.id), each.btf);
    if (!source) {
      bool matches = glob_match(function, each.name) ||
                     (each.name.size() == 15 && function.starts_with(each.name));
      if (matches) found.push_back({each.id, each.name, false, each.is_tracing});
      continue;
    }
    for (uint32_t id : each.functions) {
      std::string name(source->btf->type(id).name);
      if (glob_match(function, name)) found.push_back({each.id, name, true, each.is_tracing});
    }
  }
  return found;
}

Result<FunctionSignature> bpf_signature(LiveTypes& types, const std::string& module,
                                        std::string_view function) {
  std::optional<int64_t> id = parse_number(module.substr(kBpfModule.size()));
  Error missing{fmt::format("BPF program {} has no function '{}'", module, function)};
  Result<std::vector<BpfProgram>> programs = list_bpf_programs();
  if (!programs) return programs.error();
  for (const BpfProgram& program : *programs) {
    const LiveTypes::Source* source =
        program.id == id ? types.program(module, program.btf) : nullptr;
    if (!source) continue;
    for (uint32_t each : program.functions) {
      if (source->btf->type(each).name != function) continue;
      FunctionSignature signature = function_signature(*source->types, each);
      signature.module = module;
      for (Field& arg : signature.args) arg.type = kernel_pointer(types, arg.type);
      return signature;
    }
  }
  return missing;
}

}  // namespace flowtap
