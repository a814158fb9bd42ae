// FileTarget: answers from a TargetFile. Way in: FileTarget::parse(). C text is turned into types
// when asked, by the same functions that read tracefs; parse() asks everything once, so that a
// mistake in a description shows at once and not in the middle of somebody's test.

#include "target/file_target.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/bytes.h"
#include "base/text.h"
#include "target/tracefs_format.h"
#include "target/type_text.h"

namespace flowtap {
namespace {

FindType finder(const FileTarget& target) {
  return [&target](std::string_view name) { return target.find_type(name); };
}

Type lazy_struct(const TargetFile::Struct& definition, size_t number) {
  return struct_type(definition.name, definition.size, definition.name.starts_with("union"),
                     static_cast<int32_t>(number));
}

Type enum_of(const std::string& name, const std::vector<Enumerator>& values) {
  bool is_signed = std::any_of(values.begin(), values.end(),
                               [](const Enumerator& value) { return value.value < 0; });
  return enum_type(name, 4, is_signed, values);
}

// "char *buf" as listings write it: "char * buf".
std::string spaced(const std::string& declaration) {
  size_t star = declaration.rfind('*');
  if (star == std::string::npos || declaration.substr(star + 1).starts_with(' '))
    return declaration;
  return declaration.substr(0, star + 1) + " " + declaration.substr(star + 1);
}

std::string module_of(const TargetFile::Function& function) {
  return function.module.empty() ? "vmlinux" : function.module;
}

}  // namespace

Result<FileTarget> FileTarget::parse(std::string_view text) {
  Result<TargetFile> file = parse_target_file(text);
  if (!file) return file.error();
  FileTarget target;
  target.file_ = std::move(*file);
  Status checked = target.check();
  if (!checked) return checked.error();
  return target;
}

Status FileTarget::check() const {
  for (size_t i = 0; i < file_.structs.size(); i++) {
    const TargetFile::Struct& definition = file_.structs[i];
    if (complete(lazy_struct(definition, i))->fields.size() != definition.members.size())
      return Error{fmt::format("'{}' has a member of unknown type", definition.name)};
  }
  for (const auto& [name, format] : file_.tracepoints) {
    Result<TracepointFormat> parsed = parse_tracepoint_format(format, finder(*this));
    if (!parsed) return Error{fmt::format("tracepoint {}: {}", name, parsed.error().what)};
  }
  for (const auto* list : {&file_.functions, &file_.raw_tracepoints})
    for (const TargetFile::Function& function : *list) {
      Result<FunctionSignature> parsed = signature(function);
      if (!parsed) return parsed.error();
    }
  for (const auto& [name, id] : file_.iterators) {
    Result<FunctionSignature> parsed = iterator(name);
    if (!parsed) return parsed.error();
  }
  return Done{};
}

// --- types ------------------------------------------------------------------------------------

Type FileTarget::find_type(std::string_view name) const {
  for (size_t i = 0; i < file_.structs.size(); i++)
    if (file_.structs[i].name == name) return lazy_struct(file_.structs[i], i);
  auto found_enum = file_.enums.find(std::string(name));
  if (found_enum != file_.enums.end()) return enum_of(found_enum->first, found_enum->second);
  auto found = file_.typedefs.find(std::string(name));
  if (found == file_.typedefs.end()) return nullptr;
  std::optional<CDeclaration> declared = parse_declaration(found->second, finder(*this));
  return declared && !is(declared->type, Kind::Unknown) ? declared->type : nullptr;
}

std::optional<Field> FileTarget::field_of(const TargetFile::Member& member,
                                          AddressSpace space) const {
  std::optional<CDeclaration> declared =
      parse_declaration(member.declaration, finder(*this), space);
  if (!declared || is(declared->type, Kind::Unknown)) return std::nullopt;
  return Field{.name = declared->name,
               .type = declared->type,
               .offset = member.offset,
               .bit_offset = member.bit_offset,
               .bit_size = member.bit_size};
}

Type FileTarget::complete(const Type& type) const {
  bool is_ours = is(type, Kind::Struct) && !type->is_complete && type->definition >= 0 &&
                 static_cast<size_t>(type->definition) < file_.structs.size();
  if (!is_ours) return type;
  TypeData data = *type;
  data.is_complete = true;
  AddressSpace space = type->space == AddressSpace::None ? AddressSpace::Kernel : type->space;
  for (const TargetFile::Member& member :
       file_.structs[static_cast<size_t>(type->definition)].members) {
    std::optional<Field> field = field_of(member, space);
    if (field) data.fields.push_back(std::move(*field));
  }
  return std::make_shared<const TypeData>(std::move(data));
}

std::optional<EnumConstant> FileTarget::find_enumerator(std::string_view name) const {
  for (const auto& [enum_name, values] : file_.enums)
    for (const Enumerator& value : values)
      if (value.name == name) return EnumConstant{enum_of(enum_name, values), value.value};
  return std::nullopt;
}

std::vector<std::string> FileTarget::type_names(std::string_view pattern) const {
  std::vector<std::string> names;
  for (const TargetFile::Struct& definition : file_.structs)
    if (glob_match(pattern, definition.name)) names.push_back(definition.name);
  for (const auto& [name, values] : file_.enums)
    if (glob_match(pattern, name)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string FileTarget::type_text(std::string_view name) const {
  std::string text = fmt::format("vmlinux: {} {{\n", name);
  for (const TargetFile::Struct& definition : file_.structs) {
    if (definition.name != name) continue;
    for (const TargetFile::Member& member : definition.members)
      text += member.bit_size ? fmt::format("\t{}: {};\n", member.declaration, member.bit_size)
                              : fmt::format("\t{};\n", member.declaration);
    return text + "};";
  }
  auto found = file_.enums.find(std::string(name));
  if (found == file_.enums.end()) return {};
  for (const Enumerator& value : found->second)
    text += fmt::format("\t{} = {},\n", value.name, value.value);
  return text + "};";
}

// --- kernel probes ----------------------------------------------------------------------------

std::vector<std::string> FileTarget::tracepoints(std::string_view category,
                                                 std::string_view event) const {
  std::vector<std::string> names;
  for (const auto& [name, format] : file_.tracepoints) {
    std::string_view whole = name;
    size_t colon = whole.find(':');
    if (glob_match(category, whole.substr(0, colon)) && glob_match(event, whole.substr(colon + 1)))
      names.push_back(name);
  }
  return names;
}

Result<TracepointFormat> FileTarget::tracepoint(std::string_view category,
                                                std::string_view event) const {
  std::string name = fmt::format("{}:{}", category, event);
  auto found = file_.tracepoints.find(name);
  if (found == file_.tracepoints.end())
    return Error{fmt::format("no tracepoint '{}'", name), ENOENT};
  return parse_tracepoint_format(found->second, finder(*this));
}

// Arguments stand in slots of eight bytes, as in btf_signatures.cc.
Result<FunctionSignature> FileTarget::signature(const TargetFile::Function& function) const {
  FunctionSignature signature{.btf_id = function.id, .module = function.module};
  signature.result_text = function.result.empty() ? "void" : function.result;
  signature.result = parse_type_text(signature.result_text, finder(*this));
  uint32_t offset = 0;
  for (const std::string& arg : function.args) {
    std::optional<Field> field =
        field_of({.declaration = arg, .offset = offset}, AddressSpace::Kernel);
    if (!field)
      return Error{fmt::format("'{}' has an argument of unknown type: '{}'", function.name, arg)};
    offset += static_cast<uint32_t>(align_up(field->type->size, 8));
    signature.declarations.push_back(spaced(arg));
    signature.args.push_back(std::move(*field));
  }
  return signature;
}

std::vector<std::string> FileTarget::raw_tracepoints(std::string_view event) const {
  std::vector<std::string> names;
  for (const TargetFile::Function& function : file_.raw_tracepoints)
    if (glob_match(event, function.name)) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<FunctionSignature> FileTarget::raw_tracepoint(std::string_view event) const {
  for (const TargetFile::Function& function : file_.raw_tracepoints)
    if (function.name == event) return signature(function);
  return Error{fmt::format("no raw tracepoint '{}' in the kernel's BTF", event)};
}

std::vector<std::string> FileTarget::kernel_functions(std::string_view module,
                                                      std::string_view function) const {
  std::vector<std::string> names;
  for (const TargetFile::Function& candidate : file_.functions) {
    std::string owner = module_of(candidate);
    if ((module.empty() || glob_match(module, owner)) && glob_match(function, candidate.name))
      names.push_back(fmt::format("{}:{}", owner, candidate.name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<FunctionSignature> FileTarget::kernel_function(std::string_view module,
                                                      std::string_view function) const {
  for (const TargetFile::Function& candidate : file_.functions)
    if (candidate.name == function && (module.empty() || glob_match(module, module_of(candidate))))
      return signature(candidate);
  return Error{fmt::format("no kernel function '{}' in the kernel's BTF", function)};
}

std::vector<std::string> FileTarget::iterators() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : file_.iterators) names.push_back(name);
  return names;
}

Result<FunctionSignature> FileTarget::iterator(std::string_view name) const {
  auto found = file_.iterators.find(std::string(name));
  Type context = find_type(fmt::format("struct bpf_iter__{}", name));
  if (found == file_.iterators.end() || !context)
    return Error{fmt::format("no iterator '{}' in the kernel's BTF", name)};
  FunctionSignature signature{.btf_id = found->second,
                              .args = complete(context)->fields,
                              .result = int_type(4, true),
                              .result_text = "int"};
  for (const Field& arg : signature.args)
    signature.declarations.push_back(fmt::format("{} {}", type_name(arg.type), arg.name));
  return signature;
}

std::optional<uint64_t> FileTarget::kernel_symbol(std::string_view name) const {
  auto found = file_.symbols.find(std::string(name));
  return found == file_.symbols.end() ? std::nullopt : std::optional(found->second);
}

// --- user binaries and the rest -----------------------------------------------------------------

Result<std::vector<std::string>> FileTarget::binaries(std::string_view target) const {
  std::vector<std::string> paths;
  for (const auto& [path, functions] : file_.binaries)
    if (glob_match(target, path)) paths.push_back(path);
  if (paths.empty()) return Error{fmt::format("no binary '{}'", target), ENOENT};
  return paths;
}

Result<std::vector<UserFunction>> FileTarget::user_functions(const std::string& path,
                                                             std::string_view name) const {
  auto found = file_.binaries.find(path);
  if (found == file_.binaries.end()) return Error{fmt::format("no binary '{}'", path), ENOENT};
  std::vector<UserFunction> functions = found->second;
  std::erase_if(functions,
                [&](const UserFunction& one) { return !name.empty() && one.name != name; });
  return functions;
}

Result<std::vector<UsdtProbe>> FileTarget::usdt_probes(const std::string& path) const {
  if (!file_.binaries.contains(path)) return Error{fmt::format("no binary '{}'", path), ENOENT};
  auto found = file_.usdt_probes.find(path);
  return found == file_.usdt_probes.end() ? std::vector<UsdtProbe>() : found->second;
}

std::optional<uint64_t> FileTarget::cgroup_id(const std::string& path) const {
  auto found = file_.cgroups.find(path);
  return found == file_.cgroups.end() ? std::nullopt : std::optional(found->second);
}

// C++ names only, and no globs: a description has few symbols, and the whole art of demangling is
// with the readers of real binaries.
bool FileTarget::demangled_matches(const std::string& symbol, std::string_view name) const {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  std::string_view whole = text ? std::string_view(text.get()) : std::string_view(symbol);
  return whole == name || whole.substr(0, whole.find('(')) == name;
}

}  // namespace flowtap
