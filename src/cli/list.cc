// Listing; see list.h. A pattern is "kind:rest", both with '*'; without ':' it is "*:pattern".

#include "cli/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "builtins/probes.h"
#include "target/listing.h"

namespace flowtap {

namespace {

class Lister {
 public:
  Lister(const Target& target, bool is_verbose) : target_(target), is_verbose_(is_verbose) {}

  void add_pattern(const std::string& pattern) {
    size_t colon = pattern.find(':');
    std::string kind = colon == std::string::npos ? "*" : pattern.substr(0, colon);
    std::string rest = colon == std::string::npos ? pattern : pattern.substr(colon + 1);
    for (const ProbeRow& row : all_probe_kinds()) {
      bool is_named = !has_glob(kind) && find_probe_kind(kind) == &row;
      if (is_named || (has_glob(kind) && glob_match(kind, row.name))) add_kind(row, rest, is_named);
    }
  }

  std::string take() { return std::move(out_); }
  // Why a file that was named could not be read.
  const std::optional<Error>& problem() const { return problem_; }

 private:
  void add_kind(const ProbeRow& row, const std::string& rest, bool is_named) {
    // `*:./prog:*`: what can be traced in that file.
    bool is_of_file = row.has(kUserSpace) && rest.find('/') != std::string::npos;
    if (row.has(kListedByName) && !is_named && !is_of_file) return;
    switch (row.family) {
      case ProbeFamily::Tracepoint: return add_tracepoints(rest);
      case ProbeFamily::RawTracepoint: return add_raw_tracepoints(row, rest);
      case ProbeFamily::Function: return add_functions(row, rest);
      case ProbeFamily::Iterator:
        for (const std::string& name : target_.iterators())
          if (glob_match(rest, name)) add_typed(row, name, target_.iterator(name));
        return;
      case ProbeFamily::Counter: return add_events(row, rest, row.events->names);
      case ProbeFamily::Clock:
        for (const char* unit : {"hz", "ms", "s", "us"})
          if (glob_match(rest, fmt::format("{}:", unit)) || glob_match(rest, unit))
            add(fmt::format("{}:{}:", row.name, unit));
        return;
      case ProbeFamily::UserFunction: return add_user_functions(row, rest);
      case ProbeFamily::Marker: return add_usdt(row, rest);
      case ProbeFamily::Special:
      case ProbeFamily::Self:
      case ProbeFamily::Named:
      case ProbeFamily::Watchpoint: return;
    }
  }

  // "event" or "module:event"
  void add_raw_tracepoints(const ProbeRow& row, const std::string& rest) {
    size_t colon = rest.find(':');
    std::string wanted = colon == std::string::npos ? "*" : rest.substr(0, colon);
    std::string pattern = colon == std::string::npos ? rest : rest.substr(colon + 1);
    for (const std::string& event : target_.raw_tracepoints(pattern)) {
      std::string module = module_of_raw_tracepoint(target_, event);
      if (glob_match(wanted, module))
        add_typed(row, fmt::format("{}:{}", module, event), target_.raw_tracepoint(event));
    }
  }

  void add(const std::string& name) { out_ += name + "\n"; }

  void add_tracepoints(const std::string& rest) {
    size_t colon = rest.find(':');
    std::string category = colon == std::string::npos ? "*" : rest.substr(0, colon);
    std::string event = colon == std::string::npos ? rest : rest.substr(colon + 1);
    for (const std::string& found : target_.tracepoints(category, event)) {
      add("tracepoint:" + found);
      if (!is_verbose_) continue;
      size_t at = found.find(':');
      Result<TracepointFormat> format =
          target_.tracepoint(found.substr(0, at), found.substr(at + 1));
      if (format) out_ += list_arguments(*format);
    }
  }

  void add_typed(const ProbeRow& row, const std::string& name,
                 const Result<FunctionSignature>& signature) {
    add(fmt::format("{}:{}", row.name, name));
    if (is_verbose_ && signature)
      out_ += list_arguments(*signature, row.has(kHasRetval) ? ShowResult::Yes : ShowResult::No);
  }

  // A kind that this kernel does not permit is not listed.
  void add_functions(const ProbeRow& row, const std::string& rest) {
    bool is_typed = row.program != ProgramType::Kprobe;
    if (!target_.has(is_typed ? Feature::Fentry : Feature::Kprobes)) return;
    if (is_typed && rest.starts_with(kBpfModule)) return add_programs(row, rest);
    size_t colon = rest.find(':');
    std::string module = colon == std::string::npos ? "" : rest.substr(0, colon);
    std::string function = colon == std::string::npos ? rest : rest.substr(colon + 1);
    std::vector<std::string> names = target_.kernel_functions(module, function);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& found : names) {
      size_t at = found.find(':');
      add(fmt::format("{}:{}", row.name, is_typed ? found : found.substr(at + 1)));
      if (!is_verbose_) continue;
      Result<FunctionSignature> signature =
          target_.kernel_function(found.substr(0, at), found.substr(at + 1));
      if (signature)
        out_ += list_arguments(*signature, row.has(kHasRetval) ? ShowResult::Yes : ShowResult::No);
    }
  }

  // "bpf:name" or "bpf:id:name"
  void add_programs(const ProbeRow& row, const std::string& rest) {
    std::vector<std::string> parts = split(rest, ':');
    Result<std::vector<BpfFunction>> found =
        target_.bpf_functions(parts.size() > 2 ? parts[1] : "", parts.back());
    if (!found) return;
    for (const BpfFunction& function : *found) {
      if (!function.has_btf) continue;
      std::string module = fmt::format("{}{}", kBpfModule, function.program);
      add_typed(row, fmt::format("{}:{}", module, function.name),
                target_.kernel_function(module, function.name));
    }
  }

  void add_events(const ProbeRow& row, const std::string& rest,
                  std::span<const PerfEventName> events) {
    std::vector<std::string> names;
    for (const PerfEventName& event : events) {
      names.emplace_back(event.name);
      if (!event.alias.empty()) names.emplace_back(event.alias);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      if (glob_match(rest, name) || glob_match(rest, name + ":"))
        add(fmt::format("{}:{}:", row.name, name));
  }

  // "path:pattern"; the path may itself hold a colon only inside quotes, which no one lists.
  void add_user_functions(const ProbeRow& row, const std::string& rest) {
    size_t colon = rest.rfind(':');
    std::string path = rest.substr(0, colon);
    std::string pattern = colon == std::string::npos ? "*" : rest.substr(colon + 1);
    Result<std::vector<std::string>> files = target_.binaries(path);
    if (!files) return;
    for (const std::string& file : *files) {
      Result<std::vector<UserFunction>> functions = target_.user_functions(file);
      if (!functions && !has_glob(path)) problem_ = functions.error();
      if (!functions) continue;
      std::string last;
      for (const UserFunction& function : *functions)
        if (glob_match(pattern, function.name) && function.name != last) {
          add(fmt::format("{}:{}:{}", row.name, file, last = function.name));
          if (is_verbose_ && row.has(kHasArgs)) add_parameters(file, function);
        }
    }
  }

  void add_parameters(const std::string& file, const UserFunction& function) {
    Result<std::vector<Field>> parameters = target_.user_parameters(file, function);
    if (!parameters) return;  // no debug information
    for (const Field& field : *parameters)
      out_ += fmt::format("    {} {}\n", type_name(field.type), field.name);
  }

  void add_usdt(const ProbeRow& row, const std::string& rest) {
    std::vector<std::string> parts = split(rest, ':');
    Result<std::vector<std::string>> files = target_.binaries(parts[0]);
    if (!files) return;
    std::string provider = parts.size() > 2 ? parts[1] : "*";
    std::string name = parts.size() > 1 ? parts.back() : "*";
    for (const std::string& file : *files) {
      Result<std::vector<UsdtProbe>> probes = target_.usdt_probes(file);
      if (!probes && !has_glob(parts[0])) problem_ = probes.error();
      if (!probes) continue;
      for (const UsdtProbe& probe : *probes)
        if (glob_match(provider, probe.provider) && glob_match(name, probe.name))
          add(fmt::format("{}:{}:{}:{}", row.name, file, probe.provider, probe.name));
    }
  }

  const Target& target_;
  bool is_verbose_;
  std::string out_;
  std::optional<Error> problem_;
};

}  // namespace

Result<std::string> list_probes(const Target& target, const std::string& search, bool is_verbose) {
  std::string wanted = search.empty() ? "*" : search;
  if (is_type_pattern(wanted)) {
    std::string types = list_types(target, wanted, is_verbose);
    if (types.empty()) return Error{fmt::format("there is no type '{}'", wanted)};
    return types;
  }
  Lister lister(target, is_verbose);
  for (const std::string& pattern : split(wanted, ',')) lister.add_pattern(pattern);
  std::string out = lister.take();
  if (!out.empty()) return out;
  if (lister.problem()) return *lister.problem();
  if (wanted.starts_with("t"))
    if (std::optional<Error> problem = target.tracepoint_problem()) return *problem;
  bool needs_btf =
      wanted.starts_with("f") || wanted.starts_with("rawt") || wanted.starts_with("rt:");
  if (needs_btf && !target.has(Feature::Btf))
    return Error{
        fmt::format("'{}' matches nothing", wanted), 0,
        "this kernel has no BTF, which tells of such probes; try tracepoint:* or kprobe:*"};
  bool asks_functions = wanted.starts_with("k") || wanted.starts_with("f");
  if (asks_functions && !target.has(Feature::Kprobes) && !target.has(Feature::Fentry))
    return Error{
        fmt::format("'{}' matches nothing", wanted), 0,
        "this kernel permits neither kprobes nor fentry; try tracepoint:* or rawtracepoint:*"};
  return Error{fmt::format("'{}' matches nothing", wanted), 0,
               "'*' stands for any text, e.g. -l 'tracepoint:tcp:*'"};
}

}  // namespace flowtap
