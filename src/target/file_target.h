#pragma once
// FileTarget: a machine described by a text file, so that the compiler's tests give the same
// bytes everywhere. The form of the text is at the head of target_file.cc.

#include "target/target.h"
#include "target/target_file.h"

namespace flowtap {

class FileTarget : public Target {
 public:
  static Result<FileTarget> parse(std::string_view text);

  Type find_type(std::string_view name) const override;
  Type complete(const Type& type) const override;
  std::optional<EnumConstant> find_enumerator(std::string_view name) const override;
  std::vector<std::string> type_names(std::string_view pattern) const override;
  std::string type_text(std::string_view name) const override;

  std::vector<std::string> tracepoints(std::string_view category,
                                       std::string_view event) const override;
  Result<TracepointFormat> tracepoint(std::string_view category,
                                      std::string_view event) const override;
  std::vector<std::string> raw_tracepoints(std::string_view event) const override;
  Result<FunctionSignature> raw_tracepoint(std::string_view event) const override;
  std::vector<std::string> kernel_functions(std::string_view module,
                                            std::string_view function) const override;
  Result<FunctionSignature> kernel_function(std::string_view module,
                                            std::string_view function) const override;
  std::vector<std::string> iterators() const override;
  Result<FunctionSignature> iterator(std::string_view name) const override;
  std::optional<uint64_t> kernel_symbol(std::string_view name) const override;
  bool has(Feature feature) const override {
    const FeatureRow& row = feature_row(feature);
    return file_.features.contains(feature) || (row.has_version() && row.since <= file_.kernel);
  }
  std::optional<int32_t> kfunc_id(std::string_view) const override { return std::nullopt; }
  bool can_call_kfunc(std::string_view, ProgramType) const override { return false; }
  std::optional<DirectRead> direct_read(const Type&, uint32_t, uint32_t,
                                        ProgramType) const override {
    return std::nullopt;
  }
  std::optional<UserObject> user_object(const std::string&, std::string_view) const override {
    return std::nullopt;
  }
  std::optional<uint64_t> instruction_start(const std::string&, const UserFunction&,
                                            uint64_t) const override {
    return std::nullopt;
  }
  std::optional<uint64_t> code_offset(const std::string&, uint64_t) const override {
    return std::nullopt;
  }
  std::optional<uint64_t> user_address(const std::string&, uint64_t) const override {
    return std::nullopt;
  }

  Result<std::vector<std::string>> binaries(std::string_view target) const override;
  Result<std::vector<UserFunction>> user_functions(const std::string& path,
                                                   std::string_view name = {}) const override;
  Result<std::vector<Field>> user_parameters(const std::string& path,
                                             const UserFunction&) const override {
    return no_debug_information(path);
  }
  Result<std::vector<uint64_t>> source_line(const std::string& path,
                                            const SourcePlace&) const override {
    return no_debug_information(path);
  }
  Result<std::vector<UsdtProbe>> usdt_probes(const std::string& path) const override;

  std::optional<uint64_t> cgroup_id(const std::string& path) const override;
  uint32_t cpus() const override { return file_.cpus; }
  const Arch& arch() const override { return *file_.arch; }
  uint64_t page_size() const override { return file_.page_size; }
  bool demangled_matches(const std::string& symbol, std::string_view name) const override;

 private:
  static Error no_debug_information(const std::string& path) {
    return {"'" + path + "' has no debug information"};
  }
  Status check() const;
  std::optional<Field> field_of(const TargetFile::Member& member, AddressSpace space) const;
  Result<FunctionSignature> signature(const TargetFile::Function& function) const;

  TargetFile file_;
};

}  // namespace flowtap
