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
#include "sema/user_points.h"
#include "target/listing.h"

namespace flowtap {

namespace {

class Expander : private PointMaker {
 public:
  explicit Expander(AttachExpansion& expansion) : PointMaker(expansion), user_points_(expansion) {}

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
      case ProbeFamily::UserFunction: return user_points_.expand_function(row);
      case ProbeFamily::Marker: return user_points_.expand_marker(row);
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
      if (known) {
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
    if (!found) return void(error(found.error().message()).with_hint(found.error().hint));
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
        if (!known || !why_not_traced(*known).empty()) continue;
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
    std::string wanted = count() == 2 ? part(1) : "*", elsewhere;
    for (const std::string& event : target_.raw_tracepoints(part(count()))) {
      std::string module = module_of_raw_tracepoint(target_, event);
      if (!glob_match(wanted, module)) {
        elsewhere = module;
        continue;
      }
      AttachPoint& point = add(row.kind, fmt::format("{}:{}:{}", row.name, module, event));
      point.function = event;
    }
    const std::string& event = part(count());
    if (!points_.empty() || elsewhere.empty() || has_glob(event) || options_.allows_missing) return;
    error(fmt::format("raw tracepoint '{}' is not in '{}'", event, wanted))
        .with_hint(fmt::format("it is in '{}': write '{}:{}'", elsewhere, row.name, event));
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
      error(fmt::format("the shortest {} is 1us, found {}", row.name, counted(*ns, "nanosecond")));
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
    if (!target_.iterator(part(1))) {
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

  UserPoints user_points_;
};

}  // namespace

std::vector<AttachPoint> expand_attach(const AttachSpec& spec, const Target& target,
                                       const CheckOptions& options, Diagnostics& diagnostics) {
  AttachExpansion expansion{spec, target, options, diagnostics, {}, {}};
  return Expander(expansion).run();
}

}  // namespace flowtap
