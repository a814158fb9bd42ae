// Types of the running kernel. Ways in: find(), complete(), search().
//
// vmlinux comes first and answers nearly everything. A machine may have a hundred modules with BTF
// of their own; they are tried only when vmlinux does not know a name, one at a time, and only the
// one that knew it stays loaded. Answers, of names that nobody knows too, are remembered, since
// types are inferred in several walks and each asks again.

#include "live/live_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/directory.h"
#include "base/text.h"
#include "live/bpf_programs.h"

namespace flowtap {

static constexpr std::string_view kVmlinux = "vmlinux";
static constexpr std::string_view kLiveDirectory = "/sys/kernel/btf";

std::unique_ptr<LiveTypes::Source> LiveTypes::load(const std::string& module,
                                                   uint32_t number) const {
  std::string path = directory_ + "/" + module;
  bool is_running = module == kVmlinux && directory_ == kLiveDirectory;
  Result<FileBytes> file = is_running ? FileBytes::open_vmlinux(path) : FileBytes::open(path);
  if (!file) return nullptr;
  auto source = std::make_unique<Source>();
  source->module = module;
  source->file = std::move(*file);
  const Btf* base = sources_.empty() ? nullptr : &*sources_[0]->btf;
  Result<Btf> btf = Btf::parse(source->file.bytes(), base);
  if (!btf) return nullptr;
  if (!is_lazy_) btf->index_at_once();
  source->btf = std::move(*btf);
  source->types.emplace(*source->btf, number);
  return source;
}

const LiveTypes::Source* LiveTypes::vmlinux() {
  if (!is_tried_ && !directory_.empty()) {
    std::unique_ptr<Source> source = load(std::string(kVmlinux), 0);
    if (source) sources_.push_back(std::move(source));
  }
  is_tried_ = true;
  return sources_.empty() ? nullptr : sources_[0].get();
}

std::vector<std::string> LiveTypes::modules(std::string_view pattern) const {
  Result<std::vector<std::string>> names = names_in(directory_);
  if (!names) return {};
  std::erase_if(*names, [&](const std::string& name) {
    return name == kVmlinux || (!pattern.empty() && !glob_match(pattern, name));
  });
  return std::move(*names);
}

const LiveTypes::Source* LiveTypes::kept(const std::string& module) const {
  for (const std::unique_ptr<Source>& source : sources_)
    if (source->module == module) return source.get();
  return nullptr;
}

const LiveTypes::Source* LiveTypes::search(std::string key, std::string_view module,
                                           const Accept& accept) {
  const Source* kernel = vmlinux();
  if (!kernel || failed_.contains(key)) return nullptr;
  bool may_be_kernel = module.empty() || glob_match(module, kVmlinux);
  if (may_be_kernel && accept(*kernel)) return kernel;
  for (const std::string& name : modules(module)) {
    if (const Source* known = kept(name)) {
      if (accept(*known)) return known;
      continue;
    }
    std::unique_ptr<Source> candidate = load(name, static_cast<uint32_t>(sources_.size()));
    if (!candidate || !accept(*candidate)) continue;
    sources_.push_back(std::move(candidate));
    return sources_.back().get();
  }
  failed_.insert(std::move(key));
  return nullptr;
}

void LiveTypes::visit_all(std::string_view module, const Visit& visit) {
  const Source* kernel = vmlinux();
  if (!kernel) return;
  if (module.empty() || glob_match(module, kVmlinux)) visit(*kernel);
  for (const std::string& name : modules(module)) {
    const Source* known = kept(name);
    std::unique_ptr<Source> passing = known ? nullptr : load(name, BtfTypes::kMaxNumber);
    if (known || passing) visit(known ? *known : *passing);
  }
}

const LiveTypes::Source* LiveTypes::program(const std::string& name, uint32_t btf) {
  if (const Source* known = kept(name)) return known;
  Result<std::vector<std::byte>> bytes = read_loaded_btf(btf);
  if (!vmlinux() || !bytes) return nullptr;
  auto source = std::make_unique<Source>();
  source->module = name;
  source->bytes = std::move(*bytes);
  Result<Btf> parsed = Btf::parse(source->bytes, nullptr);
  if (!parsed) return nullptr;
  source->btf = std::move(*parsed);
  source->types.emplace(*source->btf, static_cast<uint32_t>(sources_.size()));
  sources_.push_back(std::move(source));
  return sources_.back().get();
}

Type LiveTypes::find(std::string_view name) {
  Type& found = found_[std::string(name)];
  if (found) return found;
  search(fmt::format("type {}", name), {}, [&](const Source& source) {
    found = source.types->find(name);
    return found != nullptr;
  });
  return found;
}

Type LiveTypes::complete(const Type& type) {
  if (!is(type, Kind::Struct) || type->is_complete) return type;
  if (type->definition < 0) {
    // Known only by a forward declaration; another file may hold the definition.
    Type found = find(type->name);
    return found && found->definition >= 0 ? complete(found) : type;
  }
  uint32_t number = BtfTypes::number_of(type);
  if (number >= sources_.size()) return type;
  Type& completed = completed_[{type->definition, type->space}];
  if (!completed) completed = sources_[number]->types->complete(type);
  return completed;
}

std::optional<EnumConstant> LiveTypes::find_enumerator(std::string_view name) {
  std::string key(name);
  if (auto known = enumerators_.find(key); known != enumerators_.end()) return known->second;
  std::optional<EnumConstant> constant;
  search(fmt::format("enumerator {}", name), {}, [&](const Source& source) {
    std::optional<Btf::FoundEnumerator> found = source.btf->find_enumerator(name);
    if (found) constant = EnumConstant{source.types->type(found->enum_id), found->value};
    return found.has_value();
  });
  if (constant) enumerators_.emplace(std::move(key), *constant);
  return constant;
}

}  // namespace flowtap
