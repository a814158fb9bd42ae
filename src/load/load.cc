// Loading. Way in: load(). Maps come first, since programs hold their descriptors in immediate
// operands. A program is first loaded without a log, which is much faster for large ones; only
// when it is refused is it loaded again, to hear why.

#include "load/load.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "builtins/probes.h"
#include "kernel/bpf_call.h"
#include "kernel/kprobe_multi.h"
#include "kernel/program_btf.h"
#include "kernel/replacement.h"
#include "kernel/uprobe_multi.h"
#include "load/map_stock.h"
#include "load/maps.h"
#include "load/module_btf.h"
#include "load/verifier_log.h"
#include "privileges/rights.h"
#include "symbols/kallsyms.h"
#include "target/target.h"

namespace flowtap {
namespace {

struct KernelType {
  bpf_prog_type type;
  bpf_attach_type attach = static_cast<bpf_attach_type>(0);
};

KernelType kernel_type(ProgramType type) {
  switch (type) {
    case ProgramType::RawTracepoint: return {BPF_PROG_TYPE_RAW_TRACEPOINT};
    case ProgramType::BtfTracepoint: return {BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP};
    case ProgramType::Tracepoint: return {BPF_PROG_TYPE_TRACEPOINT};
    case ProgramType::Kprobe: return {BPF_PROG_TYPE_KPROBE};
    case ProgramType::PerfEvent: return {BPF_PROG_TYPE_PERF_EVENT};
    case ProgramType::Fentry: return {BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY};
    case ProgramType::Fexit: return {BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT};
    case ProgramType::Iter: return {BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER};
  }
  UNREACHABLE("a program type without a number");
}

std::vector<bpf_insn> kernel_insns(const Program& program) {
  std::vector<bpf_insn> insns;
  insns.reserve(program.insns.size());
  for (const bpf::Insn& insn : program.insns) {
    bpf_insn out = {};
    out.code = insn.code;
    out.dst_reg = insn.dst & 0xf;
    out.src_reg = insn.src & 0xf;
    out.off = insn.off;
    out.imm = insn.imm;
    insns.push_back(out);
  }
  return insns;
}

bool is_user_program(const Program& program) {
  return program.type == ProgramType::Kprobe && !program.attach.empty() &&
         probe_row(program.attach.front().kind).has(kUserSpace);
}

class Loader {
 public:
  Loader(const Image& image, const LoadOptions& options) : image_(image), options_(options) {}

  Result<LoadedImage> run(std::optional<Refusal>* refusal) {
    Result<std::vector<Fd>> maps = create_maps(image_);
    if (!maps) return maps.error();
    loaded_.maps = std::move(*maps);
    bool has_user_probes =
        std::any_of(image_.programs.begin(), image_.programs.end(), is_user_program);
    loaded_.uprobe_multi = has_user_probes && options_.uses_uprobe_multi && has_uprobe_multi();
    bool has_many =
        std::any_of(image_.programs.begin(), image_.programs.end(), is_for_many_functions);
    loaded_.kprobe_multi = has_many && options_.uses_kprobe_multi && has_kprobe_multi();
    for (size_t i = 0; i < image_.programs.size(); i++) {
      std::optional<Refusal> why;
      Result<Fd> fd = load_program(i, &why);
      if (fd) {
        loaded_.programs.push_back(std::move(*fd));
        continue;
      }
      bool is_last_of_group = !has_other(i);
      if (is_last_of_group || !leave_out(i, fd.error(), why)) {
        if (refusal) *refusal = std::move(why);
        return fd.error();
      }
    }
    stock_up(image_, loaded_.maps);
    return std::move(loaded_);
  }

 private:
  Status patch(const Program& program, std::vector<bpf_insn>& insns);
  Result<Fd> load_program(size_t index, std::optional<Refusal>* refusal);
  Status describe_functions(const Program& program, bpf_attr& attr);
  Error refused(size_t index, int code, std::string log, std::optional<Refusal>* refusal);
  bool has_other(size_t index) const;
  bool leave_out(size_t index, const Error& error, const std::optional<Refusal>& refusal);

  const Image& image_;
  const LoadOptions& options_;
  LoadedImage loaded_;
  KernelSymbols symbols_;
  // What the options of the program being loaded point to.
  Fd btf_;
  ProgramBtf functions_;
  Fd module_;
};

Status Loader::patch(const Program& program, std::vector<bpf_insn>& insns) {
  for (const Relocation& relocation : program.relocations) {
    CHECK(relocation.insn + 1 < insns.size());
    bpf_insn& low = insns[relocation.insn];
    bpf_insn& high = insns[relocation.insn + 1];
    if (relocation.kind == Relocation::Kind::KernelSymbol) {
      std::optional<uint64_t> address = symbols_.address_of(relocation.symbol);
      if (!address)
        return Error{fmt::format("no kernel symbol '{}' in /proc/kallsyms", relocation.symbol)};
      low.imm = static_cast<int32_t>(*address);
      high.imm = static_cast<int32_t>(*address >> 32);
      continue;
    }
    const Fd& map = loaded_.maps.at(static_cast<size_t>(relocation.map));
    CHECK(map.valid());
    bool is_value = relocation.kind == Relocation::Kind::MapValue;
    low.src_reg = is_value ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
    low.imm = map.get();
  }
  return Done{};
}

// Only callbacks need it; a kernel without BTF support still loads programs that have none.
Status Loader::describe_functions(const Program& program, bpf_attr& attr) {
  if (program.subprograms.size() < 2) return Done{};
  functions_ = encode_program_btf(program);
  btf_ = Fd(::bpf_btf_load(functions_.bytes.data(), functions_.bytes.size(), nullptr));
  if (!btf_.valid())
    return errno_error(fmt::format("cannot load the function types of '{}'", program.name),
                       errno == EPERM ? permission_hint() : "");
  attr.prog_btf_fd = static_cast<uint32_t>(btf_.get());
  attr.func_info = reinterpret_cast<uint64_t>(functions_.functions.data());
  attr.func_info_cnt = static_cast<uint32_t>(functions_.functions.size());
  attr.func_info_rec_size = sizeof(FunctionInfo);
  return Done{};
}

std::string probe_name(const Program& program) {
  return program.attach.empty() ? program.name : program.attach.front().name;
}

bool traces_program(const Program& program) {
  return program.attach_module.starts_with(kBpfModule);
}

// Who has every right and is refused a function can still be told what else answers the question.
std::string hint_for_forbidden(const Program& program) {
  std::string why = permission_hint();
  bool is_function = program.attach_btf_id != 0 && !program.attach.empty();
  if (!is_function || !missing_capabilities().empty()) return why;
  std::string other = hint_for_function(program.attach.front().function);
  return other.empty() ? why : fmt::format("{}; {}", why, other);
}

std::string hint_for(const Program& program, int code, bool has_verdict) {
  if (has_verdict) return {};
  bool is_tracing = program.attach_btf_id != 0;
  switch (code) {
    case EPERM: return hint_for_forbidden(program);
    case EINVAL:
      return is_tracing ? "this kernel does not know such programs, or not this probe" : "";
    case E2BIG: return "the program has more instructions than this kernel allows";
    case ENOSYS: return "this kernel was built without BPF";
    case kNotSupportedByKernel: return "this kernel does not support such programs here";
    default: return {};
  }
}

// A helper that the kernel keeps from us, for lack of a right or by lockdown.
std::string rights_hint(std::string_view reason) {
  bool is_helper = reason.find("unknown func bpf_") != std::string_view::npos ||
                   reason.find("cannot use helper") != std::string_view::npos;
  bool is_free = missing_capabilities().empty() && lockdown_mode() != "confidentiality";
  return is_helper && !is_free ? permission_hint() : "";
}

Error Loader::refused(size_t index, int code, std::string log, std::optional<Refusal>* refusal) {
  const Program& program = image_.programs[index];
  VerifierVerdict verdict = read_verifier_log(log);
  bool has_verdict = !verdict.reason.empty();
  // What is wrong is not our code, but what it is to trace.
  if (has_verdict && !verdict.insn && traces_program(program))
    return {
        fmt::format("cannot trace '{}': {}", probe_name(program), verdict.reason), 0,
        "before Linux 6.8 programs of the tracing kind (fentry, tp_btf, iter) cannot be traced"};
  Error error{fmt::format("cannot load the program of '{}'", probe_name(program)), code,
              hint_for(program, code, has_verdict)};
  if (!has_verdict || !refusal) return error;
  Refusal& out = refusal->emplace();
  out.program = index;
  out.reason = std::move(verdict.reason);
  if (verdict.insn && *verdict.insn < program.spans.size()) out.span = program.spans[*verdict.insn];
  out.rights = rights_hint(out.reason);
  out.log = std::move(log);
  return error;
}

// Whether another program of its group is loaded or still to be loaded.
bool Loader::has_other(size_t index) const {
  if (image_.programs[index].attach.empty()) return false;
  const Span& group = image_.programs[index].attach.front().group;
  for (size_t i = 0; i < image_.programs.size(); i++) {
    bool is_open = i > index || (i < index && loaded_.programs[i].valid());
    const std::vector<AttachPoint>& points = image_.programs[i].attach;
    auto is_of_group = [&](const AttachPoint& point) { return point.group == group; };
    if (is_open && std::any_of(points.begin(), points.end(), is_of_group)) return true;
  }
  return false;
}

// Only a refusal of what the program is for: without privileges, for example, all would be refused.
bool Loader::leave_out(size_t index, const Error& error, const std::optional<Refusal>& refusal) {
  const std::vector<AttachPoint>& points = image_.programs[index].attach;
  auto may_go = [](const AttachPoint& point) { return point.is_one_of_many; };
  bool is_of_target = refusal ? refusal->rights.empty()
                              : error.code == EINVAL || error.code == kNotSupportedByKernel;
  if (!options_.leaves_out || !is_of_target || !std::all_of(points.begin(), points.end(), may_go))
    return false;
  LeftOutProgram out{index, error, error.message()};
  if (refusal) {
    out.error = {fmt::format("cannot load '{}': {}", points.front().name, refusal->reason)};
    out.reason = "the kernel's verifier refused the program";
  } else {
    out.reason = errno_text(error.code);
  }
  loaded_.left_out.push_back(std::move(out));
  loaded_.programs.emplace_back();
  return true;
}

Result<Fd> Loader::load_program(size_t index, std::optional<Refusal>* refusal) {
  const Program& program = image_.programs[index];
  std::vector<bpf_insn> insns = kernel_insns(program);
  Status patched = patch(program, insns);
  if (!patched) return patched.error();

  KernelType type = kernel_type(program.type);
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.prog_type = type.type;
  attr.insns = reinterpret_cast<uint64_t>(insns.data());
  attr.insn_cnt = static_cast<uint32_t>(insns.size());
  attr.license = reinterpret_cast<uint64_t>(options_.license.c_str());
  kernel_name(program.name).copy(attr.prog_name, sizeof attr.prog_name - 1);
  attr.expected_attach_type = type.attach;
  if (loaded_.uprobe_multi && is_user_program(program))
    attr.expected_attach_type = kUprobeMultiAttachType;
  if (loaded_.kprobe_multi && is_for_many_functions(program))
    attr.expected_attach_type = BPF_TRACE_KPROBE_MULTI;
  attr.attach_btf_id = static_cast<uint32_t>(program.attach_btf_id);
  if (program.is_sleepable) attr.prog_flags = BPF_F_SLEEPABLE;
  if (traces_program(program)) {
    module_ = Fd(::bpf_prog_get_fd_by_id(
        static_cast<uint32_t>(*parse_number(program.attach_module.substr(kBpfModule.size())))));
    if (!module_.valid())
      return errno_error(fmt::format("cannot trace '{}'", probe_name(program)),
                         "is that program still loaded?");
    attr.attach_prog_fd = static_cast<uint32_t>(module_.get());
  } else if (!program.attach_module.empty()) {
    Result<Fd> module = open_module_btf(program.attach_module);
    if (!module) return module.error();
    module_ = std::move(*module);
    attr.attach_btf_obj_fd = static_cast<uint32_t>(module_.get());
  }
  Status described = describe_functions(program, attr);
  if (!described) return described.error();

  Fd fd(call_bpf(BPF_PROG_LOAD, attr));
  if (fd.valid()) return fd;
  int code = errno;
  std::string log(std::max<uint64_t>(options_.log_size, 128), '\0');
  attr.log_level = 1;
  attr.log_buf = reinterpret_cast<uint64_t>(log.data());
  attr.log_size = static_cast<uint32_t>(std::min<uint64_t>(log.size(), UINT32_MAX >> 2));
  fd = Fd(call_bpf(BPF_PROG_LOAD, attr));
  if (fd.valid()) return fd;
  log.resize(std::char_traits<char>::length(log.c_str()));
  return refused(index, code, std::move(log), refusal);
}

}  // namespace

Result<LoadedImage> load(const Image& image, const LoadOptions& options,
                         std::optional<Refusal>* refusal) {
  return Loader(image, options).run(refusal);
}

}  // namespace flowtap
