// Expanding attach points; see attach_points.h. An attach point is a list of parts, the first of
// which names the kind: {"tracepoint", "syscalls", "sys_enter_*"}.

#include "sema/attach_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include "base/text.h"
#include "builtins/probes.h"
#include "sema/left_out.h"

namespace flowtap {

namespace {

class Expander {
 public:
  Expander(const AttachSpec& spec, const Target& target, const CheckOptions& options,
           Diagnostics& diagnostics)
      : spec_(spec), target_(target), options_(options), diagnostics_(diagnostics) {}

  std::vector<AttachPoint> run() {
    if (spec_.parts.empty()) return {};
    if (has_glob(spec_.parts[0])) return expand_every_kind();
    const ProbeRow* row = find_probe_kind(spec_.parts[0]);
    if (!row) {
      report_unknown_kind();
      return {};
    }
    expand_kind(*row);
    return take_points();
  }

 private:
  // --- helpers ------------------------------------------------------------------------------
  size_t count() const { return spec_.parts.size() - 1; }
  const std::string& part(size_t i) const { return spec_.parts[i]; }

  Diagnostic& error(std::string message) {
    return diagnostics_.error(spec_.span, std::move(message));
  }

  bool expect_parts(const ProbeRow& row, size_t least, size_t most) {
    if (count() >= least && count() <= most) return true;
    std::string wanted =
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    error(fmt::format("'{}' takes {} part{} after its name, found {}", row.name, wanted,
                      most == 1 ? "" : "s", count()))
        .with_hint(fmt::format("write it as '{}'", row.forms));
    return false;
  }

  AttachPoint& add(ProbeKind kind, std::string name) {
    points_.push_back({.kind = kind, .name = std::move(name), .span = spec_.span});
    return points_.back();
  }

  void report_unknown_kind() {
    std::vector<std::string> names;
    for (const ProbeRow& row : all_probe_kinds()) names.emplace_back(row.name);
    Diagnostic& report = error(fmt::format("'{}' is not a kind of probe", part(0)));
    if (std::optional<std::string> near = nearest(part(0), names))
      report.with_hint(fmt::format("did you mean '{}'?", *near));
  }

  // `*:sched_switch`: every kind that can take what follows.
  std::vector<AttachPoint> expand_every_kind() {
    bool is_user =
        options_.pid || (spec_.parts.size() > 1 && part(1).find('/') != std::string::npos);
    for (const ProbeRow& row : all_probe_kinds()) {
      bool fits = row.has(kOfAnyKind) && row.has(kUserSpace) == is_user;
      if (fits && glob_match(part(0), row.name)) expand_kind(row);
    }
    return take_points();
  }

  std::vector<AttachPoint> take_points() {
    report_left_out(left_out_,
                    {.pattern = fmt::format("{}", fmt::join(spec_.parts, ":")),
                     .left = points_.size(),
                     .may_be_none = options_.allows_missing,
                     .shows_list = options_.lists_left_out,
                     .span = spec_.span},
                    diagnostics_);
    return std::move(points_);
  }

  void expand_kind(const ProbeRow& row) {
    switch (row.family) {
      case ProbeFamily::Special: return expand_special(row);
      case ProbeFamily::Self: return expand_self(row);
      case ProbeFamily::Named: return expand_named(row);
      case ProbeFamily::Function: return expand_function(row);
      case ProbeFamily::UserFunction: return expand_uprobe(row);
      case ProbeFamily::Marker: return expand_usdt(row);
      case ProbeFamily::Tracepoint: return expand_tracepoint(row);
      case ProbeFamily::RawTracepoint: return expand_raw_tracepoint(row);
      case ProbeFamily::Clock: return expand_timer(row);
      case ProbeFamily::Counter: return expand_event(row, row.events->names);
      case ProbeFamily::Watchpoint: return expand_watchpoint(row);
      case ProbeFamily::Iterator: return expand_iter(row);
    }
  }

  // --- one function per family ----------------------------------------------------------------
  void expand_special(const ProbeRow& row) {
    if (count() == 1 && part(1) == "*") return void(add(row.kind, std::string(row.name)));
    if (expect_parts(row, 0, 0)) add(row.kind, std::string(row.name));
  }

  void expand_self(const ProbeRow& row) {
    if (!expect_parts(row, 1, 2)) return;
    if (part(1) == "report") return expand_report(row);
    if (part(1) != "signal" || count() != 2 || part(2) != "SIGUSR1") {
      std::string what = count() == 2 ? fmt::format("{}:{}", part(1), part(2)) : part(1);
      error(fmt::format("'{}' is not an event of flowtap itself", what))
          .with_hint("there are 'self:signal:SIGUSR1' and 'self:report'");
      return;
    }
    AttachPoint& point = add(row.kind, "self:signal:SIGUSR1");
    point.self_event = part(1);
  }

  // self:report, self:report:5, self:report:100ms. The time is what --interval stands for when it
  // is not given.
  void expand_report(const ProbeRow& row) {
    std::optional<uint64_t> ns = 0;
    if (count() == 2) ns = nanoseconds(part(2), 1'000'000'000);
    if (count() == 2 && ns.value_or(0) == 0) {
      error(fmt::format("a report comes every so many seconds, found '{}'", part(2)))
          .with_hint("write 'self:report:5' or 'self:report:100ms'");
      return;
    }
    AttachPoint& point = add(row.kind, "self:report");
    point.self_event = part(1);
    point.period_ns = *ns;
  }

  void expand_named(const ProbeRow& row) {
    if (!expect_parts(row, 1, 1)) return;
    add(row.kind, fmt::format("{}:{}", row.name, part(1))).function = part(1);
  }

  void expand_function(const ProbeRow& row) {
    if (row.has(kHasArgs) && count() >= 2 && part(1) == "bpf") return expand_program(row);
    if (!expect_parts(row, 1, 2)) return;
    std::string module = count() == 2 ? part(1) : "";
    std::string function = part(count());
    uint64_t offset = 0;
    if (row.has(kTakesOffset) && !split_offset(function, offset)) return;
    bool is_typed = row.has(kHasArgs);
    if (!has_glob(function) && !has_glob(module)) {
      Result<FunctionSignature> known =
          is_typed ? target_.kernel_function(module, function) : Result<FunctionSignature>(Error{});
      if (known.ok()) {
        module = known->module.empty() ? "vmlinux" : known->module;
        if (std::string why = why_not_traced(*known); !why.empty())
          return void(
              error(fmt::format("'{}' cannot be traced by {}: it {}", function, row.name, why))
                  .with_hint("a kprobe can"));
      }
      return add_function(row, module, function, offset);
    }
    add_functions(row, target_.kernel_functions(module, function), offset);
  }

  // fentry:bpf:[ID:]NAME
  void expand_program(const ProbeRow& row) {
    if (!expect_parts(row, 2, 3)) return;
    const std::string id = count() == 3 ? part(2) : "", &name = part(count());
    bool is_wildcard = has_glob(name) || has_glob(id);
    Result<std::vector<BpfFunction>> found = target_.bpf_functions(id, name);
    if (!found.ok()) return void(error(found.error().message()).with_hint(found.error().hint));
    std::string without_types;
    for (const BpfFunction& function : *found) {
      if (!function.has_btf) without_types = function.name;
      if (!function.has_btf || (is_wildcard && function.is_tracing)) continue;
      std::string module = fmt::format("{}{}", kBpfModule, function.program);
      add_function(row, module, function.name, 0);
    }
    if (points_.empty() && !without_types.empty() && !is_wildcard)
      error(fmt::format("BPF program '{}' was loaded without BTF, so it cannot be traced",
                        without_types))
          .with_hint("compile it with -g");
  }

  // All that a wildcard found, sorted. A kprobe goes to every function of a name; types tell of
  // one.
  void add_functions(const ProbeRow& row, std::vector<std::string> names, uint64_t offset) {
    bool is_typed = row.has(kHasArgs);
    if (is_typed) names.erase(std::unique(names.begin(), names.end()), names.end());
    std::map<std::string, int> of_name;
    for (const std::string& found : names) of_name[found.substr(found.find(':') + 1)]++;
    for (size_t i = 0, same = 0; i < names.size(); i++) {
      same = i > 0 && names[i] == names[i - 1] ? same + 1 : 0;
      size_t colon = names[i].find(':');
      std::string owner = names[i].substr(0, colon), name = names[i].substr(colon + 1);
      // The compiler makes functions that BTF does not describe: tcp_v4_fill_cb.isra.0.
      if (is_typed) {
        Result<FunctionSignature> known = target_.kernel_function(owner, name);
        if (!known.ok() || !why_not_traced(*known).empty()) continue;
      }
      add_function(row, owner, name, offset);
      if (of_name[name] > 1) points_.back().namesake = static_cast<int>(same);
    }
  }

  // What the kernel's trampolines cannot pass on; empty when they can.
  std::string why_not_traced(const FunctionSignature& function) const {
    constexpr uint32_t kLargest = 16;
    size_t registers = target_.arch().arguments.size();
    if (is(function.result, Kind::Struct)) return "returns a struct";
    uint32_t bytes = 0;
    for (const Field& arg : function.args) {
      if (is(arg.type, Kind::Struct) && arg.type->size > kLargest) return "takes a large struct";
      bytes = arg.offset + std::max(8u, arg.type->size);
    }
    if (bytes > registers * 8 && !target_.has(Feature::FentryStackArgs))
      return fmt::format("has more than {} arguments", registers);
    return {};
  }

  // Typed kinds are called by their module, since the types are those of the module.
  void add_function(const ProbeRow& row, const std::string& module, const std::string& function,
                    uint64_t offset) {
    bool shows_module = row.has(kHasArgs) && !module.empty();
    std::string owner = shows_module ? module + ":" : "";
    std::string suffix = offset ? fmt::format("+{}", offset) : "";
    AttachPoint& point = add(row.kind, fmt::format("{}:{}{}{}", row.name, owner, function, suffix));
    point.target = module;
    point.function = function;
    point.offset = offset;
  }

  // "name+0x10" -> "name" and 16.
  bool split_offset(std::string& function, uint64_t& offset) {
    size_t plus = function.rfind('+');
    if (plus == std::string::npos) return true;
    std::optional<int64_t> number = parse_number(function.substr(plus + 1));
    if (!number || *number < 0) {
      error(fmt::format("'{}' is not an offset", function.substr(plus + 1)));
      return false;
    }
    offset = static_cast<uint64_t>(*number);
    function.resize(plus);
    return true;
  }

  void expand_tracepoint(const ProbeRow& row) {
    bool any_category = count() == 1 && has_glob(part(1));
    if (!any_category && !expect_parts(row, 2, 2)) return;
    std::string category = any_category ? "*" : part(1);
    std::string event = any_category ? part(1) : part(2);
    for (const std::string& found : target_.tracepoints(category, event)) {
      size_t colon = found.find(':');
      AttachPoint& point = add(row.kind, fmt::format("{}:{}", row.name, found));
      point.target = found.substr(0, colon);
      point.function = found.substr(colon + 1);
    }
  }

  void expand_raw_tracepoint(const ProbeRow& row) {
    if (!expect_parts(row, 1, 2)) return;
    for (const std::string& event : target_.raw_tracepoints(part(count()))) {
      AttachPoint& point = add(row.kind, fmt::format("{}:vmlinux:{}", row.name, event));
      point.function = event;
    }
  }

  // Units of time; hz is a rate, not a length.
  static std::optional<uint64_t> unit_ns(std::string_view unit) {
    if (unit == "ns") return 1;
    if (unit == "us") return 1'000;
    if (unit == "ms") return 1'000'000;
    if (unit == "s") return 1'000'000'000;
    if (unit == "m") return 60'000'000'000;
    if (unit == "h") return 3'600'000'000'000;
    if (unit == "d") return 86'400'000'000'000;
    return std::nullopt;
  }

  void expand_timer(const ProbeRow& row) {
    if (!expect_parts(row, 1, 2)) return;
    if (count() == 1) return expand_duration(row);
    std::optional<int64_t> number = parse_number(part(2));
    bool is_hz = part(1) == "hz";
    if (!is_hz && part(1) != "s" && part(1) != "ms" && part(1) != "us") {
      error(fmt::format("'{}' is not a unit of time", part(1))).with_hint("use hz, s, ms or us");
      return;
    }
    if (!number || *number <= 0) {
      error(fmt::format("the rate of '{}' must be a positive whole number, found '{}'", row.name,
                        part(2)));
      return;
    }
    AttachPoint& point = add(row.kind, fmt::format("{}:{}:{}", row.name, part(1), *number));
    if (is_hz)
      point.frequency = static_cast<uint64_t>(*number);
    else
      point.period_ns = static_cast<uint64_t>(*number) * *unit_ns(part(1));
  }

  // "10ms"; a number without a unit counts `unit_of_bare`.
  static std::optional<uint64_t> nanoseconds(const std::string& text, uint64_t unit_of_bare) {
    size_t unit_at = text.find_last_of("0123456789") + 1;
    std::optional<int64_t> number = parse_number(text.substr(0, unit_at));
    std::optional<uint64_t> unit =
        unit_at == text.size() ? unit_of_bare : unit_ns(text.substr(unit_at));
    if (!number || *number < 0 || !unit) return std::nullopt;
    return static_cast<uint64_t>(*number) * *unit;
  }

  // profile:10ms, or a bare number of nanoseconds.
  void expand_duration(const ProbeRow& row) {
    std::optional<uint64_t> ns = nanoseconds(part(1), 1);
    if (!ns) {
      error(fmt::format("'{}' is not a length of time", part(1)))
          .with_hint(fmt::format("write it as '{}' or '{}:10ms'", row.forms, row.name));
      return;
    }
    if (*ns < 1000) {
      error(fmt::format("the shortest {} is 1us, found {} nanoseconds", row.name, *ns));
      return;
    }
    add(row.kind, fmt::format("{}:us:{}", row.name, *ns / 1000)).period_ns = *ns;
  }

  void expand_event(const ProbeRow& row, std::span<const PerfEventName> events) {
    if (!expect_parts(row, 1, 2)) return;
    auto is_named = [&](const PerfEventName& e) {
      return e.name == part(1) || (!e.alias.empty() && e.alias == part(1));
    };
    auto found = std::find_if(events.begin(), events.end(), is_named);
    if (found == events.end()) {
      std::vector<std::string> names;
      for (const PerfEventName& e : events) names.emplace_back(e.name);
      Diagnostic& report = error(fmt::format("'{}' is not a {} event", part(1), row.name));
      if (auto near = nearest(part(1), names))
        report.with_hint(fmt::format("did you mean '{}'?", *near));
      return;
    }
    bool has_count = count() == 2 && !part(2).empty();
    std::optional<int64_t> period =
        has_count ? parse_number(part(2))
                  : std::optional<int64_t>(static_cast<int64_t>(found->default_period));
    if (!period || *period <= 0) {
      error(fmt::format("the count of '{}' must be a positive whole number, found '{}'", row.name,
                        part(2)));
      return;
    }
    AttachPoint& point =
        add(row.kind, fmt::format("{}:{}:{}", row.name, part(1), has_count ? part(2) : ""));
    point.event_count = static_cast<uint64_t>(*period);
    point.perf_config = found->config;
  }

  void expand_watchpoint(const ProbeRow& row) {
    if (!expect_parts(row, 3, 3)) return;
    std::optional<int64_t> address = parse_number(part(1));
    std::optional<int64_t> length = parse_number(part(2));
    if (!address || *address == 0)
      return void(error(fmt::format("'{}' is not an address", part(1))));
    if (!length || (*length != 1 && *length != 2 && *length != 4 && *length != 8))
      return void(error("the length of a watchpoint must be 1, 2, 4 or 8"));
    std::string mode = part(3);
    std::sort(mode.begin(), mode.end());
    bool repeats = std::adjacent_find(mode.begin(), mode.end()) != mode.end();
    if (mode.empty() || repeats || mode.find_first_not_of("rwx") != std::string::npos)
      return void(error("the mode of a watchpoint must be made of 'r', 'w' and 'x'"));
    AttachPoint& point =
        add(row.kind, fmt::format("{}:{}:{}:{}", row.name, part(1), part(2), part(3)));
    point.watched = static_cast<uint64_t>(*address);
    point.length = static_cast<uint32_t>(*length);
    point.mode = mode;
  }

  void expand_iter(const ProbeRow& row) {
    if (!expect_parts(row, 1, 2)) return;
    if (!target_.has(Feature::Btf))
      return void(error(
          "iterators are known by the kernel's type information (BTF), which this kernel lacks"));
    if (!target_.iterator(part(1)).ok()) {
      Diagnostic& report = error(fmt::format("this kernel has no iterator '{}'", part(1)));
      if (auto near = nearest(part(1), target_.iterators()))
        report.with_hint(fmt::format("did you mean '{}'?", *near));
      else
        report.with_hint("list them with: -l 'iter:*'");
      return;
    }
    if (count() == 2 && (part(2).empty() || part(2).find('/') != std::string::npos))
      return void(error(fmt::format("'{}' is not the name of a file in /sys/fs/bpf", part(2))));
    AttachPoint& point = add(row.kind, fmt::format("{}:{}", row.name, part(1)));
    point.function = part(1);
    if (count() == 2) point.pin = part(2);
  }

  // --- user programs --------------------------------------------------------------------------
  // The files of a target; an empty one stands for all that the process of -p executes.
  std::vector<std::string> find_binaries(const std::string& name) {
    Result<std::vector<std::string>> paths = target_.binaries(name);
    if (paths.ok()) return *paths;
    Diagnostic& report = error(paths.error().message());
    if (!paths.error().hint.empty()) report.with_hint(paths.error().hint);
    return {};
  }

  // Where the target may be many files, one that lacks what is looked for is no mistake.
  bool names_one_binary() const { return !part(1).empty() && !has_glob(part(1)); }
  bool is_wildcard() const {
    return !names_one_binary() || has_glob(part(count())) || (count() == 3 && has_glob(part(2)));
  }

  // A place of a user program, unless a uprobe does not go there.
  AttachPoint* add_place(const ProbeRow& row, std::string name, const std::string& path,
                         uint64_t file_offset, bool begins_function,
                         const std::string& whose = {}) {
    auto problem = target_.probe_site_problem(path, file_offset, begins_function);
    if (problem) {
      bool is_wanted = !options_.keeps_probe || options_.keeps_probe(name);
      if (!is_wanted) return nullptr;
      if (is_wildcard() || options_.allows_missing)
        left_out_.push_back({std::move(name), std::move(*problem)});
      else
        error(fmt::format("cannot probe '{}': {}{}", name, whose,
                          why_not_there(*problem, begins_function)));
      return nullptr;
    }
    AttachPoint& point = add(row.kind, std::move(name));
    point.target = path;
    point.file_offset = file_offset;
    point.is_one_of_many = is_wildcard();
    return &point;
  }

  void expand_uprobe(const ProbeRow& row) {
    if (count() > 2 && part(2).starts_with('@')) return expand_source_line(row);
    bool is_cpp = count() == 3 && part(2) == "cpp";
    if (!is_cpp && !expect_parts(row, 2, 2)) return;
    std::string function = part(count());
    uint64_t offset = 0;
    if (!is_cpp && !split_offset(function, offset)) return;
    if (offset && !row.has(kTakesOffset))
      return void(error("a uretprobe takes no offset: a function returns as a whole"));
    for (const std::string& path : find_binaries(part(1)))
      expand_in_binary(row, path, function, offset, is_cpp);
  }

  void expand_in_binary(const ProbeRow& row, const std::string& path, const std::string& function,
                        uint64_t offset, bool is_cpp) {
    bool is_one_name = !is_cpp && !has_glob(function) && !parse_number(function);
    Result<std::vector<UserFunction>> functions =
        target_.user_functions(path, is_one_name ? function : "");
    if (!functions.ok()) {
      if (names_one_binary()) error(functions.error().message());
      return;
    }
    if (std::optional<int64_t> address = parse_number(function))
      return add_address(row, path, static_cast<uint64_t>(*address), *functions);
    bool found = false;
    std::vector<uint64_t> seen;
    for (const UserFunction& candidate : *functions) {
      bool matches = is_cpp ? target_.demangled_matches(candidate.name, function)
                            : glob_match(function, candidate.name);
      if (!matches || std::find(seen.begin(), seen.end(), candidate.file_offset) != seen.end())
        continue;
      // One place may have several names, of which a filter may want the last.
      std::string name = fmt::format("{}:{}:{}", row.name, path, candidate.name);
      if (has_glob(function) && options_.keeps_probe && !options_.keeps_probe(name)) continue;
      found = true;
      if (candidate.is_resolver && !is_cpp) {
        add_implementations(row, path, candidate, offset, seen);
        continue;
      }
      seen.push_back(candidate.file_offset);
      if (!check_offset(path, candidate, offset)) continue;
      add_user(row, path, candidate, offset);
    }
    bool may_be_missing = options_.allows_missing || has_glob(function) || !names_one_binary();
    if (!found && !may_be_missing) report_no_function(path, function);
  }

  // Calls of a function that the dynamic linker chooses go to what it has chosen; its symbol stands
  // for the code that chooses.
  void add_implementations(const ProbeRow& row, const std::string& path,
                           const UserFunction& resolver, uint64_t offset,
                           std::vector<uint64_t>& seen) {
    std::string name = fmt::format("{}:{}:{}", row.name, path, resolver.name);
    std::vector<UserFunction> chosen = target_.implementations(path, resolver);
    if (offset) {
      error(
          fmt::format("'{}' is one of several functions that the dynamic linker chooses from "
                      "(IFUNC), so that '+{}' is no place",
                      resolver.name, offset));
      return;
    }
    if (chosen.empty() && (is_wildcard() || options_.allows_missing)) {
      left_out_.push_back({name, std::nullopt});
    } else if (chosen.empty()) {
      error(fmt::format("the dynamic linker chooses the function '{}' (IFUNC), and no running "
                        "process shows which one",
                        resolver.name))
          .with_hint("start the program first; only root sees the processes of other users");
    }
    for (UserFunction one : chosen) {
      if (std::find(seen.begin(), seen.end(), one.file_offset) != seen.end()) continue;
      seen.push_back(one.file_offset);
      std::string implementation = std::exchange(one.name, resolver.name);
      add_user(row, path, one, 0, name, fmt::format("of its implementation {}, ", implementation));
      if (!is_wildcard()) warn_of_shared_code(path, resolver, one.address);
    }
  }

  // memcpy() and memmove() are one function on many processors.
  void warn_of_shared_code(const std::string& path, const UserFunction& resolver,
                           uint64_t address) {
    std::vector<std::string> names;
    Result<std::vector<UserFunction>> functions = target_.user_functions(path);
    if (!functions.ok()) return;
    for (const UserFunction& other : *functions) {
      bool is_internal = other.name.starts_with('_');
      if (!other.is_resolver || other.address == resolver.address || is_internal) continue;
      for (const UserFunction& one : target_.implementations(path, other))
        if (one.address == address) names.push_back(fmt::format("'{}'", other.name));
    }
    if (names.empty()) return;
    diagnostics_.warning(spec_.span,
                         fmt::format("'{}' has its code in common with {}: calls of all are seen",
                                     resolver.name, fmt::join(names, ", ")));
  }

  // A breakpoint inside an instruction makes the program do something else.
  bool check_offset(const std::string& path, const UserFunction& function, uint64_t offset) {
    if (offset == 0 || options_.is_unsafe) return true;
    if (function.size > 0 && offset >= function.size) {
      error(fmt::format("'{}' has {} bytes, so '+{}' is outside of it", function.name,
                        function.size, offset));
      return false;
    }
    uint64_t start = target_.instruction_start(path, function, offset).value_or(offset);
    if (start == offset) return true;
    error(fmt::format("'{}+{}' is inside an instruction", function.name, offset))
        .with_hint(fmt::format("the instruction begins at '+{}'; --unsafe attaches anyway", start));
    return false;
  }

  void report_no_function(const std::string& path, const std::string& function) {
    Result<std::vector<UserFunction>> read = target_.user_functions(path);
    std::vector<UserFunction> functions =
        read.ok() ? std::move(*read) : std::vector<UserFunction>();
    std::vector<std::string> names;
    names.reserve(functions.size());
    for (const UserFunction& candidate : functions) names.push_back(candidate.name);
    Diagnostic& report = error(fmt::format("'{}' has no function '{}'", path, function));
    if (auto near = nearest(function, names))
      report.with_hint(fmt::format("did you mean '{}'?", *near));
  }

  void add_user(const ProbeRow& row, const std::string& path, const UserFunction& function,
                uint64_t offset, std::string name = {}, const std::string& whose = {}) {
    std::string suffix = offset ? fmt::format("+{}", offset) : "";
    if (name.empty()) name = fmt::format("{}:{}:{}{}", row.name, path, function.name, suffix);
    AttachPoint* point =
        add_place(row, std::move(name), path, function.file_offset + offset, offset == 0, whose);
    if (!point) return;
    point->function = function.name;
    point->offset = offset;
    point->address = function.address;
  }

  // An ELF virtual address. Only in a known function can be told whether an instruction begins
  // there.
  void add_address(const ProbeRow& row, const std::string& path, uint64_t address,
                   const std::vector<UserFunction>& functions) {
    std::optional<uint64_t> file_offset = target_.code_offset(path, address);
    if (!file_offset)
      return void(error(fmt::format("'{}' has no code at address {:#x}", path, address)));
    auto holds = [&](const UserFunction& function) {
      return address >= function.address &&
             address < function.address + std::max<uint64_t>(1, function.size);
    };
    auto function = std::find_if(functions.begin(), functions.end(), holds);
    bool is_known = function != functions.end();
    if (!is_known && !options_.is_unsafe) {
      error(fmt::format("address {:#x} is in no function of '{}'", address, path))
          .with_hint("--unsafe attaches anyway");
      return;
    }
    if (is_known && !check_offset(path, *function, address - function->address)) return;
    AttachPoint* point = add_place(row, fmt::format("{}:{}:{:#x}", row.name, path, address), path,
                                   *file_offset, is_known && address == function->address);
    if (!point) return;
    point->function = is_known ? function->name : "";
    point->address = address;
  }

  // uprobe:BINARY@FILE:LINE[:COLUMN]: the first statement of that line in each function that has
  // one, since lines of inlined functions become code in many places.
  void expand_source_line(const ProbeRow& row) {
    if (!row.has(kTakesOffset))
      return void(error("a uretprobe takes no line: a function returns as a whole"));
    std::optional<int64_t> line = count() > 2 ? parse_number(part(3)) : std::nullopt;
    std::optional<int64_t> column = count() == 4 ? parse_number(part(4)) : 0;
    if (count() > 4 || !line || *line < 1 || !column)
      return void(error("a source line is written as 'uprobe:BINARY@FILE:LINE[:COLUMN]'"));
    SourcePlace place{.file = part(2).substr(1), .line = *line, .column = *column};
    for (const std::string& path : find_binaries(part(1))) {
      Result<std::vector<uint64_t>> addresses = target_.source_line(path, place);
      Result<std::vector<UserFunction>> functions = target_.user_functions(path);
      if (addresses.ok() && functions.ok()) {
        add_source_line(row, path, place, *addresses, *functions);
      } else if (names_one_binary()) {
        const Error& reason = addresses.ok() ? functions.error() : addresses.error();
        Diagnostic& report = error(reason.message());
        if (!reason.hint.empty()) report.with_hint(reason.hint);
      }
    }
  }

  void add_source_line(const ProbeRow& row, const std::string& path, const SourcePlace& place,
                       const std::vector<uint64_t>& addresses,
                       const std::vector<UserFunction>& functions) {
    std::vector<uint64_t> seen;  // functions; one may have several names
    for (uint64_t address : addresses)
      for (const UserFunction& function : functions) {
        bool holds = address >= function.address && address - function.address < function.size;
        if (!holds || std::find(seen.begin(), seen.end(), function.address) != seen.end()) continue;
        seen.push_back(function.address);
        add_user(row, path, function, address - function.address,
                 fmt::format("{}:{}@{}:{}", row.name, path, place.file, place.line));
      }
  }

  void expand_usdt(const ProbeRow& row) {
    if (!expect_parts(row, 1, 3)) return;
    std::string provider = count() == 3 ? part(2) : "*";
    std::string name = part(count());
    bool is_in_process = count() == 1;  // usdt:NAME
    for (const std::string& path : find_binaries(is_in_process ? "" : part(1))) {
      Result<std::vector<UsdtProbe>> probes = target_.usdt_probes(path);
      if (!probes.ok()) {
        if (!is_in_process && names_one_binary()) error(probes.error().message());
        continue;
      }
      for (const UsdtProbe& probe : *probes)
        if (glob_match(provider, probe.provider) && glob_match(name, probe.name))
          add_usdt(row, path, probe);
    }
  }

  void add_usdt(const ProbeRow& row, const std::string& path, const UsdtProbe& probe) {
    AttachPoint* point =
        add_place(row, fmt::format("{}:{}:{}:{}", row.name, path, probe.provider, probe.name), path,
                  probe.file_offset, false);
    if (!point) return;
    point->provider = probe.provider;
    point->function = probe.name;
    point->address = probe.address;
    point->semaphore_offset = probe.semaphore_offset;
  }

  const AttachSpec& spec_;
  const Target& target_;
  const CheckOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<AttachPoint> points_;
  std::vector<LeftOut> left_out_;
};

}  // namespace

std::vector<AttachPoint> expand_attach(const AttachSpec& spec, const Target& target,
                                       const CheckOptions& options, Diagnostics& diagnostics) {
  return Expander(spec, target, options, diagnostics).run();
}

}  // namespace flowtap
