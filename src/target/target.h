#pragma once
// Target: every question the compiler may ask of a machine. The running kernel answers in
// production, a file answers in tests; the compiler never opens anything itself.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"
#include "base/result.h"
#include "target/feature.h"
#include "types/type.h"
#include "types/user_probe.h"

namespace flowtap {

enum class ProgramType : uint8_t;  // bpf/image.h

struct EnumConstant {
  Type type;
  int64_t value = 0;
};

// The record a tracepoint hands to its program. Offsets count from the start of the record; the
// common_* fields are left out.
struct TracepointFormat {
  uint32_t id = 0;
  uint32_t size = 0;  // bytes of the record's fixed part
  // Type of a data_loc field: that of one element of the data it leads to.
  std::vector<Field> fields;
  std::vector<std::string> declarations;  // of each field, in C: "const char * filename"
};

// Arguments of a kernel function or raw tracepoint, in order; offset is 8 * position in the
// context.
struct FunctionSignature {
  int32_t btf_id = 0;  // of the function, or of the raw tracepoint's typedef
  std::string module;  // where the id lives; empty for vmlinux
  std::vector<Field> args;
  Type result;                            // none_type() for void
  std::vector<std::string> declarations;  // of each argument, in C: "struct file * file"
  std::string result_text;                // the result's type in C: "ssize_t"; "void" for none
};

// A function of a loaded BPF program. Its signature is asked for as that of a kernel function whose
// module is "bpf:ID".
struct BpfFunction {
  uint32_t program = 0;
  std::string name;  // that of the program itself, cut to 15 characters, when it has no BTF
  bool has_btf = false;
  bool is_tracing = false;  // kernels forbid to trace those, or most of them
};
inline constexpr std::string_view kBpfModule = "bpf:";

// A pointer is cast to the struct of BTF id `type` by the function `cast`, and then read.
struct DirectRead {
  int32_t cast = 0;
  uint32_t type = 0;
  bool gives_pointer = false;  // the verifier knows what it points to
};

// A variable or function of a user binary.
struct UserObject {
  uint64_t address = 0;  // ELF virtual address
  uint64_t size = 0;
};

class Target {
 public:
  virtual ~Target() = default;

  // --- types: "struct sock", "union u", "enum e", or a typedef such as "pid_t". Null: no such
  // type.
  virtual Type find_type(std::string_view name) const = 0;
  // The same struct with its fields; anonymous members are flattened. Pointers among them carry
  // the `space` set in the struct type, or Kernel when it is None.
  virtual Type complete(const Type& type) const = 0;
  virtual std::optional<EnumConstant> find_enumerator(std::string_view name) const = 0;
  // For listings. The "struct x", "union x" and "enum x" that match a glob, sorted; and one of them
  // in C, headed by where it is from: "vmlinux: struct x {...};". Empty: no such type.
  virtual std::vector<std::string> type_names(std::string_view pattern) const = 0;
  virtual std::string type_text(std::string_view name) const = 0;

  // --- kernel probes. Lists take globs and come sorted: "category:event" for tracepoints,
  // "module:function" for functions (module "vmlinux" for those of the kernel itself; an empty
  // pattern stands for any), the bare name for the others.
  virtual std::vector<std::string> tracepoints(std::string_view category,
                                               std::string_view event) const = 0;
  // Why none of them can be seen; nothing when they can.
  virtual std::optional<Error> tracepoint_problem() const { return std::nullopt; }
  virtual Result<TracepointFormat> tracepoint(std::string_view category,
                                              std::string_view event) const = 0;
  virtual std::vector<std::string> raw_tracepoints(std::string_view event) const = 0;
  virtual Result<FunctionSignature> raw_tracepoint(std::string_view event) const = 0;
  // "module:function". A name that several functions of one module share is there as often.
  virtual std::vector<std::string> kernel_functions(std::string_view module,
                                                    std::string_view function) const = 0;
  virtual Result<FunctionSignature> kernel_function(std::string_view module,
                                                    std::string_view function) const = 0;
  // Whether several functions of the kernel, or of one module, have this name.
  virtual bool is_shared_name(const std::string& /*module*/,
                              const std::string& /*function*/) const {
    return false;
  }
  // Functions of BPF programs; an empty pattern for the program's id stands for any.
  virtual Result<std::vector<BpfFunction>> bpf_functions(std::string_view /*program*/,
                                                         std::string_view /*function*/) const {
    return std::vector<BpfFunction>();
  }
  virtual std::vector<std::string> iterators() const = 0;  // "task", "tcp"...
  virtual Result<FunctionSignature> iterator(
      std::string_view name) const = 0;  // args: members of the context
  virtual std::optional<uint64_t> kernel_symbol(std::string_view name) const = 0;
  virtual bool has(Feature feature) const = 0;
  // Whether programs may call it, by its BPF_FUNC_*.
  bool has_helper(int32_t number) const {
    const FeatureRow* row = find_helper(number);
    return row && has(row->feature);
  }
  // BTF id of a function that programs may call; nothing when there is none of that name.
  virtual std::optional<int32_t> kfunc_id(std::string_view name) const = 0;
  virtual bool can_call_kfunc(std::string_view name, ProgramType type) const = 0;
  // How a program may read `size` bytes of a kernel struct without a helper; nothing when it may
  // not.
  virtual std::optional<DirectRead> direct_read(const Type& base, uint32_t offset, uint32_t size,
                                                ProgramType type) const = 0;

  // --- user binaries
  // The files that a probe's target names: a path, a glob, a short library name or a program in
  // PATH.
  virtual Result<std::vector<std::string>> binaries(std::string_view target) const = 0;
  // All of them, or those of one name.
  virtual Result<std::vector<UserFunction>> user_functions(const std::string& path,
                                                           std::string_view name = {}) const = 0;
  // What processes call in the place of a function that is a resolver, as far as that is seen. By
  // their own names, where they have one.
  virtual std::vector<UserFunction> implementations(const std::string& /*path*/,
                                                    const UserFunction& /*resolver*/) const {
    return {};
  }
  // From debug information. Parameters whose places are known, in order; the offset is 8 * the
  // number of the argN.
  virtual Result<std::vector<Field>> user_parameters(const std::string& path,
                                                     const UserFunction& function) const = 0;
  // A type of the program, named as for find_type(); complete() knows its structs. Null: no such
  // type. An error: there is no debug information.
  virtual Result<Type> user_type(const std::string&, std::string_view) const { return Type(); }
  // ELF virtual addresses of the statements that stand there, sorted; never an empty list.
  virtual Result<std::vector<uint64_t>> source_line(const std::string& path,
                                                    const SourcePlace& place) const = 0;
  virtual Result<std::vector<UsdtProbe>> usdt_probes(const std::string& path) const = 0;
  virtual std::optional<UserObject> user_object(const std::string& path,
                                                std::string_view name) const = 0;
  // Where the instruction begins, counted from the function, that the byte at `offset` of it is
  // part of. Nothing where flowtap cannot read the machine's instructions.
  virtual std::optional<uint64_t> instruction_start(const std::string& path,
                                                    const UserFunction& function,
                                                    uint64_t offset) const = 0;
  // Why a uprobe there would fail or change the traced program; nothing when it does neither.
  virtual std::optional<ProbeSiteProblem> probe_site_problem(const std::string& /*path*/,
                                                             uint64_t /*file_offset*/,
                                                             bool /*begins_function*/) const {
    return std::nullopt;
  }
  // Where code of an ELF virtual address lies in the file; nothing when there is none.
  virtual std::optional<uint64_t> code_offset(const std::string& path, uint64_t address) const = 0;
  // ELF virtual address of a place in the file.
  virtual std::optional<uint64_t> user_address(const std::string& path,
                                               uint64_t file_offset) const = 0;

  // --- what else the language may ask at compile time
  virtual std::optional<uint64_t> cgroup_id(const std::string& path) const = 0;
  virtual uint32_t cpus() const = 0;
  virtual const Arch& arch() const = 0;
  virtual uint64_t page_size() const = 0;
  // Whether a C++ symbol demangles to a name, with or without its parameter list.
  virtual bool demangled_matches(const std::string& symbol, std::string_view name) const = 0;
};

}  // namespace flowtap
