#pragma once
// LiveTypes: the BTF of the running kernel and of its modules, loaded when first asked for.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "live/file_bytes.h"
#include "target/target.h"
#include "types/btf_types.h"

namespace flowtap {

class LiveTypes {
 public:
  // One BTF file: vmlinux, or a module on top of it.
  struct Source {
    std::string module;  // "vmlinux" for the kernel itself
    FileBytes file;
    std::vector<std::byte> bytes;  // of a BPF program's, which is in no file
    std::optional<Btf> btf;
    std::optional<BtfTypes> types;
  };
  using Accept = std::function<bool(const Source&)>;
  using Visit = std::function<void(const Source&)>;

  // `directory` is /sys/kernel/btf, or empty for a kernel without BTF. The lazy one makes no index
  // of names before many were asked for.
  explicit LiveTypes(std::string directory, bool is_lazy = true)
      : directory_(std::move(directory)), is_lazy_(is_lazy) {}

  // Null when the kernel has no BTF, or none that can be read.
  const Source* vmlinux();

  // The first of vmlinux and the modules matching a glob (empty: any) that `accept` takes. Modules
  // that it refuses do not stay in memory. A failed search is remembered by its `key`.
  const Source* search(std::string key, std::string_view module, const Accept& accept);
  // Each of them in turn, the modules only for the length of the visit.
  void visit_all(std::string_view module, const Visit& visit);

  // The BTF of a BPF program, kept by the name "bpf:ID"; null when it cannot be read.
  const Source* program(const std::string& name, uint32_t btf);

  Type find(std::string_view name);
  Type complete(const Type& type);
  std::optional<EnumConstant> find_enumerator(std::string_view name);

 private:
  std::unique_ptr<Source> load(const std::string& module, uint32_t number) const;
  std::vector<std::string> modules(std::string_view pattern) const;
  const Source* kept(const std::string& module) const;

  std::string directory_;
  bool is_lazy_, is_tried_ = false;
  // sources_[n] has definition number n; [0] is vmlinux.
  std::vector<std::unique_ptr<Source>> sources_;
  std::set<std::string> failed_;
  std::map<std::string, Type> found_;
  std::map<std::string, EnumConstant> enumerators_;
  std::map<std::pair<int32_t, AddressSpace>, Type> completed_;
};

}  // namespace flowtap
