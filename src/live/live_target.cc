// LiveTarget: answers from /sys/kernel/btf, tracefs and /proc. Nothing is opened before it is asked
// for: a script with a single interval probe never reads BTF at all.
//
// A kernel without BTF still has tracepoints: their formats name types that are then known only if
// they are plain integers, and raw tracepoints are listed by the events that stand for them.

#include "live/live_target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/interrupt.h"
#include "base/page.h"
#include "base/text.h"
#include "kernel/kprobe_multi.h"
#include "kernel/machine.h"
#include "kernel/perf_event.h"
#include "kernel/tracefs.h"
#include "kernel/uprobe_multi.h"
#include "live/file_bytes.h"
#include "live/live_features.h"
#include "live/live_programs.h"
#include "live/live_types.h"
#include "symbols/demangle.h"
#include "symbols/dwarf.h"
#include "symbols/dwarf_types.h"
#include "symbols/elf_file.h"
#include "symbols/find_binary.h"
#include "symbols/indirect_functions.h"
#include "symbols/kallsyms.h"
#include "symbols/usdt_notes.h"
#include "target/btf_signatures.h"
#include "target/tracefs_format.h"
#include "types/btf_walk.h"

namespace flowtap {

// Makes a typed pointer of any number, since 6.2. It costs nothing: the kernel puts a move in its
// place.
static constexpr const char* kCast = "bpf_rdonly_cast";

// A wildcard may mean all files that any process executes, and processes can make many.
static constexpr size_t kMostNamedFiles = 3;

struct LiveTarget::State {
  LiveTypes types;
  std::string tracefs_directory;
  std::optional<Result<Tracefs>> tracefs;  // set once looked for
  std::optional<bool> has_fentry, has_stack_args, has_kernel_reads;
  std::map<std::pair<int32_t, ProgramType>, bool> allowed;  // functions, to types of programs
  std::map<std::string, std::optional<int32_t>> kfuncs;     // ids of functions that programs call
  KernelVersion version;
  std::map<Feature, bool> by_version;  // those that the version alone does not answer
  FeatureSet without;
  std::optional<pid_t> pid;
  std::function<void(const std::string&)> warn;
  bool warns_of_all_files;
  std::set<std::string> warned;
  std::set<std::string> named_files, unnamed_files;  // of a wildcard, that are left out
  std::set<std::string> by_wildcard;                 // binaries that no one asked for by name
  KernelSymbols symbols = KernelSymbols();
  DwarfTypes programs = DwarfTypes();
  std::string code_path = {};  // the last one whose code was looked at
  std::optional<ElfFile> code = {};

  // By file and resolver.
  std::map<std::string, std::multimap<uint64_t, UserFunction>> implementations = {};

  bool is_named(const std::string& path);
  const ElfFile* open_code(const std::string& path);
  std::multimap<uint64_t, UserFunction> find_implementations(
      const std::string& path, const IndirectRelocations& kinds) const;
  const Result<Tracefs>& find_tracefs() {
    if (!tracefs)
      tracefs = tracefs_directory.empty() ? Tracefs::find() : Tracefs(tracefs_directory);
    return *tracefs;
  }
};

LiveTarget::LiveTarget(LiveTargetOptions options)
    : state_(new State{.types = LiveTypes(std::move(options.btf_directory),
                                          !options.without.has(Feature::LazyTypes)),
                       .tracefs_directory = std::move(options.tracefs_directory),
                       .version = options.version.value_or(running_version()),
                       .without = options.without,
                       .pid = options.pid,
                       .warn = std::move(options.warn),
                       .warns_of_all_files = options.warns_of_all_files}) {}

LiveTarget::~LiveTarget() = default;

namespace {

using Read = std::optional<FunctionSignature> (*)(const BtfTypes&, std::string_view);

// A signature from the first BTF that has one. `what` is the question, for the message.
Result<FunctionSignature> find_signature(LiveTypes& types, std::string_view what,
                                         std::string_view module, std::string_view name,
                                         Read read) {
  std::optional<FunctionSignature> found;
  const LiveTypes::Source* source = types.search(fmt::format("{} {}:{}", what, module, name),
                                                 module, [&](const LiveTypes::Source& one) {
                                                   found = read(*one.types, name);
                                                   return found.has_value();
                                                 });
  if (!types.vmlinux())
    return Error{
        fmt::format("cannot type the arguments of {} '{}': this kernel has no BTF", what, name)};
  if (!found) return Error{fmt::format("no {} '{}' in the kernel's BTF", what, name)};
  if (source != types.vmlinux()) found->module = source->module;
  return *found;
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

// --- types ------------------------------------------------------------------------------------

Type LiveTarget::find_type(std::string_view name) const { return state_->types.find(name); }

Type LiveTarget::complete(const Type& type) const {
  return DwarfTypes::is_ours(type) ? state_->programs.complete(type) : state_->types.complete(type);
}

std::optional<EnumConstant> LiveTarget::find_enumerator(std::string_view name) const {
  return state_->types.find_enumerator(name);
}

std::vector<std::string> LiveTarget::type_names(std::string_view pattern) const {
  std::vector<std::string> names;
  state_->types.visit_all({}, [&](const LiveTypes::Source& source) {
    std::vector<std::string> some = flowtap::type_names(*source.btf, pattern);
    names.insert(names.end(), some.begin(), some.end());
  });
  sort_unique(names);
  return names;
}

std::string LiveTarget::type_text(std::string_view name) const {
  std::string text;
  const LiveTypes::Source* found =
      state_->types.search(fmt::format("text {}", name), {}, [&](const LiveTypes::Source& source) {
        text = flowtap::type_text(*source.btf, name);
        return !text.empty();
      });
  return found ? fmt::format("{}: {}", found->module, text) : text;
}

// --- tracepoints ------------------------------------------------------------------------------

std::vector<std::string> LiveTarget::tracepoints(std::string_view category,
                                                 std::string_view event) const {
  const Result<Tracefs>& tracefs = state_->find_tracefs();
  return tracefs ? tracefs->events(category, event) : std::vector<std::string>();
}

Result<TracepointFormat> LiveTarget::tracepoint(std::string_view category,
                                                std::string_view event) const {
  const Result<Tracefs>& tracefs = state_->find_tracefs();
  if (!tracefs) return tracefs.error();
  Result<std::string> text = tracefs->format(category, event);
  if (!text) return text.error();
  return parse_tracepoint_format(*text, [this](std::string_view name) { return find_type(name); });
}

std::optional<Error> LiveTarget::tracepoint_problem() const {
  const Result<Tracefs>& tracefs = state_->find_tracefs();
  return tracefs ? std::nullopt : std::optional(tracefs.error());
}

std::vector<std::string> LiveTarget::raw_tracepoints(std::string_view event) const {
  std::vector<std::string> names;
  if (state_->types.vmlinux()) {
    if (!has_glob(event)) {
      if (raw_tracepoint(event)) names.emplace_back(event);
      return names;
    }
    state_->types.visit_all({}, [&](const LiveTypes::Source& source) {
      std::vector<std::string> some = raw_tracepoint_names(*source.btf, event);
      names.insert(names.end(), some.begin(), some.end());
    });
  } else {
    for (const std::string& name : tracepoints("*", event))
      // sys_enter_read and the like are made up from raw_syscalls:sys_enter.
      if (!name.starts_with("syscalls:")) names.push_back(name.substr(name.find(':') + 1));
  }
  sort_unique(names);
  return names;
}

Result<FunctionSignature> LiveTarget::raw_tracepoint(std::string_view event) const {
  return find_signature(state_->types, "raw tracepoint", {}, event, raw_tracepoint_signature);
}

// --- functions and iterators --------------------------------------------------------------------

// For a single name the BTF is asked first: the list of traceable functions takes the kernel tens
// of milliseconds to print, and attaching is the only sure test anyway.
std::vector<std::string> LiveTarget::kernel_functions(std::string_view module,
                                                      std::string_view function) const {
  std::vector<std::string> names;
  if (!has_glob(function) && !has_glob(module)) {
    Result<FunctionSignature> found = kernel_function(module, function);
    if (found)
      return {fmt::format("{}:{}", found->module.empty() ? "vmlinux" : found->module, function)};
  }
  auto take = [&](std::string_view owner, std::string_view name) {
    bool matches = (module.empty() || glob_match(module, owner)) && glob_match(function, name);
    if (matches) names.push_back(fmt::format("{}:{}", owner, name));
  };
  const Result<Tracefs>& tracefs = state_->find_tracefs();
  if (!tracefs || !tracefs->traceable_functions(take)) {
    state_->types.visit_all(module, [&](const LiveTypes::Source& source) {
      for (const std::string& name : function_names(*source.btf, function))
        take(source.module, name);
    });
    sort_unique(names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<FunctionSignature> LiveTarget::kernel_function(std::string_view module,
                                                      std::string_view function) const {
  if (module.starts_with(kBpfModule))
    return bpf_signature(state_->types, std::string(module), function);
  return find_signature(state_->types, "kernel function", module, function, function_signature);
}

bool LiveTarget::is_shared_name(const std::string& module, const std::string& function) const {
  return has(Feature::Kprobes) && kernel_has_several(module, function);
}

Result<std::vector<BpfFunction>> LiveTarget::bpf_functions(std::string_view program,
                                                           std::string_view function) const {
  return find_bpf_functions(state_->types, program, function);
}

std::vector<std::string> LiveTarget::iterators() const {
  std::vector<std::string> names;
  state_->types.visit_all({}, [&](const LiveTypes::Source& source) {
    std::vector<std::string> some = iterator_names(*source.btf);
    names.insert(names.end(), some.begin(), some.end());
  });
  sort_unique(names);
  return names;
}

Result<FunctionSignature> LiveTarget::iterator(std::string_view name) const {
  return find_signature(state_->types, "iterator", {}, name, iterator_signature);
}

// --- the rest -----------------------------------------------------------------------------------

std::optional<uint64_t> LiveTarget::kernel_symbol(std::string_view name) const {
  return state_->symbols.address_of(name);
}

// Version numbers say too little of old kernels only, which may have got things from newer ones.
bool LiveTarget::has_by_version(const FeatureRow& row) const {
  if (row.since <= state_->version) return true;
  auto [found, is_new] = state_->by_version.try_emplace(row.feature);
  if (!is_new) return found->second;
  if (const LiveTypes::Source* vmlinux = state_->types.vmlinux())
    found->second = vmlinux->btf->find_enumerator(row.sign_in_btf()).has_value() ||
                    vmlinux->btf->find(row.sign_in_btf(), BtfKind::Func) != 0;
  else
    found->second = can_use_by_trial(row);
  return found->second;
}

bool LiveTarget::has(Feature feature) const {
  if (state_->without.has(feature)) return false;
  if (const FeatureRow& row = feature_row(feature); row.has_version()) return has_by_version(row);
  const LiveTypes::Source* vmlinux = state_->types.vmlinux();
  switch (feature) {
    case Feature::Btf: return vmlinux != nullptr;
    case Feature::Kprobes: return has_perf_source("kprobe");
    case Feature::Fentry:
      if (!state_->has_fentry) state_->has_fentry = vmlinux && can_load_fentry(*vmlinux->btf);
      return *state_->has_fentry;
    case Feature::FentryStackArgs:
      if (!state_->has_stack_args)
        state_->has_stack_args = vmlinux && can_attach_to_seven_arguments(*vmlinux->btf);
      return *state_->has_stack_args;
    case Feature::KprobeMulti: return has_kprobe_multi();
    case Feature::UprobeMulti: return has_uprobe_multi();
    // The kernel permits them under lockdown for confidentiality, which asks for the opposite.
    case Feature::DirectReads: return kfunc_id(kCast) && has(Feature::KernelReads);
    case Feature::KernelReads:
      if (!state_->has_kernel_reads) state_->has_kernel_reads = can_read_kernel();
      return *state_->has_kernel_reads;
    case Feature::WriteUser: return can_write_user();
    case Feature::OverrideReturn: return can_override_return();
    default: return true;  // of flowtap itself
  }
}

Result<std::vector<std::string>> LiveTarget::binaries(std::string_view target) const {
  Result<std::vector<std::string>> found = find_binaries(target, state_->pid);
  if (found && (target.empty() || has_glob(target)))
    state_->by_wildcard.insert(found->begin(), found->end());
  return found;
}

// One of a wildcard that has gone since is not worth a word, and one that was asked for is an
// error.
Result<ElfFile> LiveTarget::open_binary(const std::string& path) const {
  Result<ElfFile> file = ElfFile::open(path);
  bool is_odd = !file && file.error().code == 0 && state_->by_wildcard.contains(path);
  if (is_odd && state_->is_named(path)) warn(file.error().message() + ": it is left out");
  return file;
}

void LiveTarget::warn(const std::string& message) const {
  bool is_new = state_->warned.insert(message).second;
  if (is_new && state_->warn) state_->warn(message);
}

// Whether what is wrong with a file is told by its name.
bool LiveTarget::State::is_named(const std::string& path) {
  if (warns_of_all_files || !by_wildcard.contains(path)) return true;
  if (named_files.size() < kMostNamedFiles) named_files.insert(path);
  if (!named_files.contains(path)) unnamed_files.insert(path);
  return named_files.contains(path);
}

void LiveTarget::warn_of_the_rest() const {
  size_t count = state_->unnamed_files.size();
  if (count > 0)
    warn(fmt::format("{} {} left out as well, or in part; -v lists them",
                     counted(count, "other file"), count == 1 ? "is" : "are"));
}

// One of a wildcard, when enough of them were read.
bool LiveTarget::leaves_out(const std::string& path) const {
  if (!state_->by_wildcard.contains(path) || !is_reading_over()) return false;
  warn(std::string(why_reading_is_over()) + ": the rest of the programs are left out");
  return true;
}

Result<std::vector<UserFunction>> LiveTarget::user_functions(const std::string& path,
                                                             std::string_view name) const {
  ReadingOfOthers reading;
  if (leaves_out(path)) return std::vector<UserFunction>();
  Result<ElfFile> file = open_binary(path);
  if (!file) return file.error();
  ElfFile::Functions functions = file->functions(name);
  if (!functions.status && state_->is_named(path)) warn(functions.status.error().message());
  return std::move(functions.found);
}

// Looking at all processes takes a while, so that it is done once for all functions of a file.
std::vector<UserFunction> LiveTarget::implementations(const std::string& path,
                                                      const UserFunction& resolver) const {
  auto [known, is_new] = state_->implementations.try_emplace(path);
  if (is_new) {
    known->second = state_->find_implementations(path, arch().indirect);
    if (is_reading_over())
      warn(std::string(why_reading_is_over()) +
           ": implementations of functions may be missing that only some processes use");
  }
  auto [first, end] = known->second.equal_range(resolver.address);
  std::vector<UserFunction> found;
  for (; first != end; first++) found.push_back(first->second);
  return found;
}

std::multimap<uint64_t, UserFunction> LiveTarget::State::find_implementations(
    const std::string& path, const IndirectRelocations& kinds) const {
  ReadingOfOthers reading;
  Result<ElfFile> file = ElfFile::open(path);
  if (!file) return {};
  std::vector<UserFunction> functions = file->functions().found;
  std::vector<UserFunction> resolvers;
  std::map<uint64_t, const UserFunction*> others;
  for (const UserFunction& one : functions)
    if (one.is_resolver)
      resolvers.push_back(one);
    else
      others.try_emplace(one.address, &one);
  auto found = flowtap::find_implementations(*file, resolvers, kinds, pid);
  std::multimap<uint64_t, UserFunction> out;
  for (const auto& [resolver, addresses] : found)
    for (uint64_t address : addresses) {
      auto named = others.find(address);
      UserFunction unnamed{.name = fmt::format("{:#x}", address), .address = address};
      unnamed.file_offset = file->code_offset(address).value_or(0);
      out.emplace(resolver, named != others.end() ? *named->second : unnamed);
    }
  return out;
}

Result<std::vector<Field>> LiveTarget::user_parameters(const std::string& path,
                                                       const UserFunction& function) const {
  return state_->programs.parameters(path, function.address);
}

Result<Type> LiveTarget::user_type(const std::string& path, std::string_view name) const {
  return state_->programs.find(path, name);
}

Result<std::vector<uint64_t>> LiveTarget::source_line(const std::string& path,
                                                      const SourcePlace& place) const {
  return find_source_line(path, place);
}

Result<std::vector<UsdtProbe>> LiveTarget::usdt_probes(const std::string& path) const {
  ReadingOfOthers reading;
  if (leaves_out(path)) return std::vector<UsdtProbe>();
  Result<ElfFile> file = open_binary(path);
  if (!file) return file.error();
  Result<std::vector<UsdtProbe>> probes = read_usdt_probes(*file);
  bool is_odd = !probes && state_->by_wildcard.contains(path);
  if (is_odd && state_->is_named(path))
    warn(probes.error().message() + ": its probes are left out");
  return probes;
}

// Functions that programs may call carry a tag in BTF, but only since 6.8; any function will do.
std::optional<int32_t> LiveTarget::kfunc_id(std::string_view name) const {
  auto [found, is_new] = state_->kfuncs.try_emplace(std::string(name));
  if (!is_new) return found->second;  // every field that is read asks
  const LiveTypes::Source* vmlinux = state_->types.vmlinux();
  uint32_t id = vmlinux ? vmlinux->btf->find(name, BtfKind::Func) : 0;
  if (id) found->second = static_cast<int32_t>(id);
  return found->second;
}

bool LiveTarget::can_call_kfunc(std::string_view name, ProgramType type) const {
  std::optional<int32_t> id = kfunc_id(name);
  if (!id) return false;
  auto [found, is_new] = state_->allowed.try_emplace({*id, type});
  if (is_new) found->second = kernel_allows_kfunc(*id, type, *state_->types.vmlinux()->btf);
  return found->second;
}

// Structs of modules are not known to the function that casts.
std::optional<DirectRead> LiveTarget::direct_read(const Type& base, uint32_t offset, uint32_t size,
                                                  ProgramType type) const {
  bool is_of_kernel =
      is(base, Kind::Struct) && base->definition >= 0 && BtfTypes::number_of(base) == 0;
  if (!is_of_kernel || !has(Feature::DirectReads) || !can_call_kfunc(kCast, type))
    return std::nullopt;
  uint32_t id = BtfTypes::id_of(base);
  Walk found = walk(*state_->types.vmlinux()->btf, id, offset, size);
  if (found == Walk::Refused) return std::nullopt;
  return DirectRead{*kfunc_id(kCast), id, found == Walk::Pointer};
}

std::optional<UserObject> LiveTarget::user_object(const std::string& path,
                                                  std::string_view name) const {
  Result<ElfFile> file = ElfFile::open(path);
  if (!file) return std::nullopt;
  if (std::optional<ElfSymbol> found = file->find_object(name))
    return UserObject{found->address, found->size};
  for (const UserFunction& function : file->functions().found)
    if (function.name == name) return UserObject{function.address, 8};
  return std::nullopt;
}

// A wildcard asks for thousands of places of one file.
const ElfFile* LiveTarget::State::open_code(const std::string& path) {
  if (code_path != path) {
    code_path = path;
    Result<ElfFile> opened = ElfFile::open(path);
    code = opened ? std::optional(std::move(*opened)) : std::nullopt;
  }
  return code ? &*code : nullptr;
}

std::optional<ProbeSiteProblem> LiveTarget::probe_site_problem(const std::string& path,
                                                               uint64_t file_offset,
                                                               bool begins_function) const {
  const ElfFile* elf = state_->open_code(path);
  if (!elf) return std::nullopt;
  std::vector<char> code = elf->bytes_at(file_offset, arch().longest_instruction);
  return arch().probe_site_problem({.code = std::as_bytes(std::span(code)),
                                    .elf_machine = elf->machine(),
                                    .begins_function = begins_function,
                                    .kernel_calls_long_nops = is_kernel_since(6, 18)});
}

std::optional<uint64_t> LiveTarget::instruction_start(const std::string& path,
                                                      const UserFunction& function,
                                                      uint64_t offset) const {
  Result<ElfFile> elf = ElfFile::open(path);
  if (!elf || elf->machine() != arch().elf_machine) return std::nullopt;
  uint64_t size = std::min(function.size, offset + arch().longest_instruction);
  Result<std::vector<char>> code = elf->bytes(function.file_offset, size);
  if (!code) return std::nullopt;
  return arch().instruction_start(std::as_bytes(std::span(*code)), offset);
}

std::optional<uint64_t> LiveTarget::code_offset(const std::string& path, uint64_t address) const {
  Result<ElfFile> file = ElfFile::open(path);
  return file ? file->code_offset(address) : std::nullopt;
}

std::optional<uint64_t> LiveTarget::user_address(const std::string& path,
                                                 uint64_t file_offset) const {
  Result<ElfFile> file = ElfFile::open(path);
  return file ? file->address_of(file_offset) : std::nullopt;
}

std::optional<uint64_t> LiveTarget::cgroup_id(const std::string& path) const {
  return find_cgroup_id(path);
}

uint64_t LiveTarget::page_size() const { return flowtap::page_size(); }

uint32_t LiveTarget::cpus() const { return count_possible_cpus(); }

bool LiveTarget::demangled_matches(const std::string& symbol, std::string_view name) const {
  return flowtap::demangled_matches(symbol, name);
}

}  // namespace flowtap
