#pragma once
// LiveTarget: the running machine as the compiler sees it.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_file.h"
#include "target/target.h"

namespace flowtap {

struct LiveTargetOptions {
  // Empty hides BTF, to try what a kernel without it can do.
  std::string btf_directory = "/sys/kernel/btf";
  // Empty: wherever it is mounted.
  std::string tracefs_directory;
  // Things to do without, to try what a kernel that lacks them can do.
  FeatureSet without;
  // Empty: the one that runs.
  std::optional<KernelVersion> version;
  // The process that user probes are for (-p): its view of names and files is what counts.
  std::optional<pid_t> pid;
  // Takes what is left out of files that a wildcard means, once each: of the first few files, or of
  // all.
  std::function<void(const std::string&)> warn;
  bool warns_of_all_files = false;
};

class LiveTarget : public Target {
 public:
  explicit LiveTarget(LiveTargetOptions options = {});
  ~LiveTarget() override;

  Type find_type(std::string_view name) const override;
  Type complete(const Type& type) const override;
  std::optional<EnumConstant> find_enumerator(std::string_view name) const override;
  std::vector<std::string> type_names(std::string_view pattern) const override;
  std::string type_text(std::string_view name) const override;

  std::vector<std::string> tracepoints(std::string_view category,
                                       std::string_view event) const override;
  std::optional<Error> tracepoint_problem() const override;
  Result<TracepointFormat> tracepoint(std::string_view category,
                                      std::string_view event) const override;
  std::vector<std::string> raw_tracepoints(std::string_view event) const override;
  Result<FunctionSignature> raw_tracepoint(std::string_view event) const override;
  std::vector<std::string> kernel_functions(std::string_view module,
                                            std::string_view function) const override;
  Result<FunctionSignature> kernel_function(std::string_view module,
                                            std::string_view function) const override;
  bool is_shared_name(const std::string& module, const std::string& function) const override;
  Result<std::vector<BpfFunction>> bpf_functions(std::string_view program,
                                                 std::string_view function) const override;
  std::vector<std::string> iterators() const override;
  Result<FunctionSignature> iterator(std::string_view name) const override;
  std::optional<uint64_t> kernel_symbol(std::string_view name) const override;
  bool has(Feature feature) const override;
  std::optional<int32_t> kfunc_id(std::string_view name) const override;
  bool can_call_kfunc(std::string_view name, ProgramType type) const override;
  std::optional<DirectRead> direct_read(const Type& base, uint32_t offset, uint32_t size,
                                        ProgramType type) const override;

  Result<std::vector<std::string>> binaries(std::string_view target) const override;
  Result<std::vector<UserFunction>> user_functions(const std::string& path,
                                                   std::string_view name = {}) const override;
  std::vector<UserFunction> implementations(const std::string& path,
                                            const UserFunction& resolver) const override;
  Result<Type> user_type(const std::string& path, std::string_view name) const override;
  Result<std::vector<Field>> user_parameters(const std::string& path,
                                             const UserFunction& function) const override;
  Result<std::vector<uint64_t>> source_line(const std::string& path,
                                            const SourcePlace& place) const override;
  Result<std::vector<UsdtProbe>> usdt_probes(const std::string& path) const override;
  std::optional<UserObject> user_object(const std::string& path,
                                        std::string_view name) const override;
  std::optional<ProbeSiteProblem> probe_site_problem(const std::string& path, uint64_t file_offset,
                                                     bool begins_function) const override;
  std::optional<uint64_t> instruction_start(const std::string& path, const UserFunction& function,
                                            uint64_t offset) const override;
  std::optional<uint64_t> code_offset(const std::string& path, uint64_t address) const override;
  std::optional<uint64_t> user_address(const std::string& path,
                                       uint64_t file_offset) const override;

  std::optional<uint64_t> cgroup_id(const std::string& path) const override;
  uint32_t cpus() const override;
  const Arch& arch() const override { return host_arch(); }
  uint64_t page_size() const override;
  bool demangled_matches(const std::string& symbol, std::string_view name) const override;

  // Warns of how many files there are beyond the few that were named.
  void warn_of_the_rest() const;

 private:
  bool has_by_version(const FeatureRow& row) const;
  Result<ElfFile> open_binary(const std::string& path) const;
  bool leaves_out(const std::string& path) const;
  void warn(const std::string& message) const;

  struct State;  // what has been loaded so far; questions are const, loading is not
  std::unique_ptr<State> state_;
};

}  // namespace flowtap
