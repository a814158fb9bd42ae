// The checker: syntax tree + machine -> checked program.
// Way in: check(). Attach points are expanded first, since the types of `args` depend on where a
// probe is attached; a probe block is copied once per context it runs in. Then names are resolved
// and types inferred over all copies together, because maps are shared between them.

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "lang/clone.h"
#include "lang/expand.h"
#include "lang/walk.h"
#include "sema/attach_points.h"
#include "sema/checked.h"
#include "sema/function_hints.h"
#include "sema/function_probe.h"
#include "sema/infer.h"
#include "sema/map_uses.h"
#include "sema/plots.h"
#include "sema/resolve.h"
#include "sema/tables.h"

namespace flowtap {

namespace {

// Each needs a program of its own; the functions of a wildcard are better attached in one call.
constexpr size_t kMostSwapped = 8;

class Checker {
 public:
  Checker(const CheckInput& input, const Target& target, CheckOptions options,
          Diagnostics& diagnostics)
      : ast_(input.ast),
        declarations_(input.declarations),
        target_(target),
        options_(std::move(options)),
        diagnostics_(diagnostics),
        next_id_(input.ast.next_id) {
    for (const Probe& probe : ast_.probes)
      if (probe.is_in_plan(input.plan)) probes_.push_back(&probe);
  }

  CheckedProgram run() {
    program_.config = read_config(ast_, options_.environment, target_.page_size(), diagnostics_);
    program_.types = std::make_shared<const ScriptTypes>(declarations_, target_, diagnostics_);
    check_imports();
    for (const Probe* probe : probes_) make_instances(*probe);
    check_limits();
    check_map_decls();
    check_functions();
    program_.tables = check_tables(ast_, *program_.types, diagnostics_);
    if (diagnostics_.has_errors()) return std::move(program_);
    program_.info.resize(next_id_);
    for (auto& instance : program_.instances)
      resolve_names(*instance, ast_, program_, diagnostics_);
    if (diagnostics_.has_errors()) return std::move(program_);
    Inferrer({program_, ast_, target_, options_, diagnostics_}).run();
    std::erase_if(program_.instances, [](const auto& instance) { return instance->is_uncalled; });
    drop_probes_that_are_off();
    if (!diagnostics_.has_errors())
      program_.plot = check_plot_declaration(ast_, program_, diagnostics_);
    if (!diagnostics_.has_errors()) find_map_uses(program_);
    check_unused_maps();
    check_options();
    return std::move(program_);
  }

 private:
  // --- instances ------------------------------------------------------------------------------
  void make_instances(const Probe& probe) {
    Instance* group = nullptr;  // takes further attach points of the same kind
    bool has_any = false;
    decide_missing(probe);
    for (const AttachSpec& spec : probe.attach) {
      size_t before = diagnostics_.all().size();
      std::vector<AttachPoint> points = expand_attach(spec, target_, options_, diagnostics_);
      size_t found = points.size();
      for (const AttachPoint& point : points) has_any |= probe_row(point.kind).has(kOnDemand);
      std::erase_if(points, [&](const AttachPoint& point) { return !is_wanted(point); });
      if (found == 0 && diagnostics_.all().size() == before) report_missing(spec);
      if (found == 1) warn_of_path(spec, points);
      if (found == 1) warn_of_namesakes(spec, points);
      for (AttachPoint& point : points) {
        has_any = true;
        attach_points_++;
        set_group(probe, spec, point);
        std::optional<FunctionProbe> relative;
        if (found <= kMostSwapped) relative = relative_of(probe, point, target_, options_);
        bool fits_group =
            !relative && group && group->kind == point.kind && can_share(probe, *group, point);
        if (!fits_group) group = add_instance(probe, point, relative ? &*relative : nullptr);
        if (group) group->attach.push_back(std::move(point));
      }
    }
    if (!has_any && missing_ == MissingProbes::Warn)
      diagnostics_.warning(probe.span, "this probe has no place left to attach to and is dropped");
  }

  // Plans are there for what a kernel lacks, so that their probes are taken whole or not at all.
  bool may_lack_some(const Probe& probe) const {
    return program_.config.missing_probes == MissingProbes::Unset && probe.attach.size() > 1 &&
           ast_.plans.empty();
  }

  void decide_missing(const Probe& probe) {
    missing_ = program_.config.missing_probes;
    if (missing_ == MissingProbes::Unset)
      missing_ =
          may_lack_some(probe) && has_some(probe) ? MissingProbes::Warn : MissingProbes::Error;
    options_.allows_missing = missing_ != MissingProbes::Error;
  }

  bool has_some(const Probe& probe) {
    options_.allows_missing = true;
    Diagnostics unused;
    for (const AttachSpec& spec : probe.attach)
      for (const AttachPoint& point : expand_attach(spec, target_, options_, unused))
        if (is_there(point)) return true;
    return false;
  }

  // Functions are looked up later than they are named.
  bool is_there(const AttachPoint& point) const {
    const ProbeRow& row = probe_row(point.kind);
    bool is_typed = row.family == ProbeFamily::Function && row.has(kHasArgs);
    return !is_typed || target_.kernel_function(point.target, point.function);
  }

  void set_group(const Probe& probe, const AttachSpec& spec, AttachPoint& point) const {
    bool is_wildcard = std::any_of(spec.parts.begin(), spec.parts.end(), has_glob);
    point.is_one_of_many |= is_wildcard || may_lack_some(probe);
    point.group = may_lack_some(probe) ? probe.span : spec.span;
  }

  // The filter of the command line leaves begin, end and reports alone.
  bool is_wanted(const AttachPoint& point) const {
    const ProbeRow& row = probe_row(point.kind);
    if (row.has(kOnDemand)) return options_.only_kind == point.kind;
    return row.is_special() || !options_.keeps_probe || options_.keeps_probe(point.name);
  }

  // A probe that attaches and stays silent is worse than one that is refused.
  void warn_of_path(const AttachSpec& spec, const std::vector<AttachPoint>& points) {
    bool is_function = !points.empty() && probe_row(points[0].kind).has(kHasFunc) &&
                       !probe_row(points[0].kind).has(kUserSpace);
    if (!is_function || has_glob(spec.parts.back())) return;
    if (points[0].target.starts_with(kBpfModule)) return;
    bool can_attach = target_.has(Feature::Kprobes) || target_.has(Feature::Fentry);
    std::string why = can_attach ? why_off_path(points[0].function, target_) : "";
    if (why.empty()) return;
    // Without the reason, which the message gives.
    std::string hint = hint_for_function(points[0].function, target_);
    size_t use = hint.find("use '");
    diagnostics_.warning(spec.span, why)
        .with_hint(use == std::string::npos ? hint : hint.substr(use));
  }

  void warn_of_namesakes(const AttachSpec& spec, const std::vector<AttachPoint>& points) {
    const ProbeRow* row = points.empty() ? nullptr : &probe_row(points[0].kind);
    bool is_typed = row && row->family == ProbeFamily::Function && row->has(kHasArgs);
    if (!is_typed || points[0].target.starts_with(kBpfModule)) return;
    const std::string& name = points[0].function;
    if (!target_.has(Feature::Fentry) || !target_.is_shared_name(points[0].target, name)) return;
    diagnostics_
        .warning(spec.span, fmt::format("several functions are called '{}', and fentry goes to "
                                        "the first that the kernel finds",
                                        name))
        .with_hint(fmt::format("'kprobe:*:{}' takes them all", name));
  }

  void report_missing(const AttachSpec& spec) {
    if (missing_ == MissingProbes::Ignore) return;
    std::string name = fmt::format("{}", fmt::join(spec.parts, ":"));
    std::string message = fmt::format("nothing to trace matches '{}'", name);
    const ProbeRow* row = find_probe_kind(spec.parts[0]);
    bool is_tracepoint = row && row->family == ProbeFamily::Tracepoint;
    if (std::optional<Error> problem =
            is_tracepoint ? target_.tracepoint_problem() : std::nullopt) {
      report_problem(spec, *problem);
      return;
    }
    if (missing_ == MissingProbes::Warn) {
      diagnostics_.warning(spec.span, message + "; skipping it");
      return;
    }
    diagnostics_.error(spec.span, message).with_hint(missing_hint(spec));
  }

  // Nothing can be said about the probe, since nothing can be seen.
  void report_problem(const AttachSpec& spec, const Error& problem) {
    std::string message = fmt::format("tracepoints cannot be seen: {}", problem.message());
    if (missing_ == MissingProbes::Warn)
      diagnostics_.warning(spec.span, message + "; skipping it");
    else
      diagnostics_.error(spec.span, message).with_hint(problem.hint);
  }

  std::string missing_hint(const AttachSpec& spec) {
    bool is_event =
        spec.parts.size() == 3 && (spec.parts[0] == "tracepoint" || spec.parts[0] == "t");
    if (is_event) {
      if (auto near =
              nearest(spec.parts[1] + ":" + spec.parts[2], target_.tracepoints(spec.parts[1], "*")))
        return fmt::format("did you mean 'tracepoint:{}'?", *near);
      if (auto near =
              nearest(spec.parts[1] + ":" + spec.parts[2], target_.tracepoints("*", spec.parts[2])))
        return fmt::format("did you mean 'tracepoint:{}'?", *near);
    }
    bool is_program = spec.parts.size() > 2 && spec.parts[1] == "bpf";
    return fmt::format(
        "list what there is with: -l '{}:{}*'; missing_probes = warn in the config block lets the "
        "rest run",
        spec.parts[0], is_program ? kBpfModule : "");
  }

  // Attach points can share one program unless the code depends on which of them fired.
  static bool can_share(const Probe& probe, const Instance& group, const AttachPoint& point) {
    bool typed = group.program == ProgramType::BtfTracepoint ||
                 group.program == ProgramType::Fentry || group.program == ProgramType::Fexit ||
                 group.program == ProgramType::Iter;
    if (typed || probe_row(group.kind).has(kRunByFlowtap)) return false;
    bool is_other_program =
        probe_row(group.kind).has(kUserSpace) && group.attach[0].target != point.target;
    if (is_other_program && names_types(probe)) return false;
    bool wants_one = false;
    for_each_builtin(probe, [&](const Builtin& builtin, const std::string&) {
      wants_one |= builtin.has(kOnePlace);
    });
    return !wants_one &&
           !(probe_row(group.kind).family == ProbeFamily::Marker && uses(probe, Fn::ArgN));
  }

  // Types that another program may lay out otherwise.
  static bool names_types(const Probe& probe) {
    bool found = false;
    auto look = [&](const TypeSpec& type) {
      found |= !type.name.empty() && !ScriptTypes::is_basic(type.name);
    };
    auto visit = [&](const Expr& e) {
      if (auto* n = std::get_if<Cast>(&e.node)) look(n->type);
      if (auto* n = std::get_if<Sizeof>(&e.node)) look(n->type);
      if (auto* n = std::get_if<Offsetof>(&e.node)) look(n->type);
      if (auto* n = std::get_if<Typeof>(&e.node)) look(n->type);
    };
    if (probe.predicate) for_each_expr(*probe.predicate, visit);
    for_each_expr(probe.body, visit);
    return found;
  }

  static bool uses(const Probe& probe, Fn wanted) {
    bool found = false;
    for_each_builtin(
        probe, [&](const Builtin& builtin, const std::string&) { found |= builtin.id == wanted; });
    return found;
  }

  Instance* add_instance(const Probe& probe, const AttachPoint& point,
                         const FunctionProbe* relative) {
    auto instance = std::make_unique<Instance>();
    instance->kind = point.kind;
    instance->program = probe_row(point.kind).program;
    instance->span = probe.span;
    if (relative)
      describe_relative(*instance, *relative);
    else if (!describe_context(*instance, point))
      return nullptr;
    const ProbeRow& row = probe_row(point.kind);
    bool has_parameters = row.has(kUserSpace) && row.has(kHasArgs) && uses(probe, Fn::Args);
    if (has_parameters && !describe_parameters(*instance, point)) return nullptr;
    if (probe.predicate) instance->predicate = clone(*probe.predicate, next_id_, &program_.origins);
    instance->body = clone(probe.body, next_id_, &program_.origins);
    program_.instances.push_back(std::move(instance));
    return program_.instances.back().get();
  }

  void describe_relative(Instance& instance, const FunctionProbe& relative) {
    const FunctionSignature& signature = relative.signature;
    instance.program = relative.program;
    instance.parameters = signature.args;
    if (relative.program == ProgramType::Kprobe) {
      instance.args = args_type(signature.args);
      instance.result = signature.result;
    } else {
      instance.attach_btf_id = signature.btf_id;
      instance.attach_module = signature.module;
    }
  }

  // What `args` is here, and the kernel's number for the place.
  bool describe_context(Instance& instance, const AttachPoint& point) {
    const ProbeRow& row = probe_row(point.kind);
    if (row.family == ProbeFamily::Tracepoint) return describe_tracepoint(instance, point);
    if (row.family == ProbeFamily::Marker) return describe_usdt(instance, point);
    if (row.family == ProbeFamily::RawTracepoint)
      return describe_typed(instance, point, target_.raw_tracepoint(point.function));
    if (row.family == ProbeFamily::Iterator)
      return describe_typed(instance, point, target_.iterator(point.function));
    if (row.family == ProbeFamily::Function && row.has(kHasArgs))
      return describe_typed(instance, point, target_.kernel_function(point.target, point.function));
    return true;
  }

  static Type args_type(std::vector<Field> fields) {
    TypeData data{.kind = Kind::Struct, .is_complete = true, .name = "args"};
    for (const Field& field : fields)
      data.size = std::max(data.size, field.offset + field.type->size);
    data.fields = std::move(fields);
    return std::make_shared<const TypeData>(std::move(data));
  }

  bool report(const AttachPoint& point, const Error& error) {
    Diagnostic& diagnostic = diagnostics_.error(point.span, error.message());
    if (!error.hint.empty()) diagnostic.with_hint(error.hint);
    return false;
  }

  bool skip(const AttachPoint& point, const Error& error) {
    if (missing_ == MissingProbes::Warn)
      diagnostics_.warning(point.span, error.message() + "; skipping it");
    return false;
  }

  // Pointers that system calls take point to user memory.
  bool describe_tracepoint(Instance& instance, const AttachPoint& point) {
    Result<TracepointFormat> format = target_.tracepoint(point.target, point.function);
    if (!format) return report(point, format.error());
    if (point.target == "syscalls")
      for (Field& field : format->fields)
        if (is(field.type, Kind::Pointer))
          field.type = pointer_type(field.type->element, AddressSpace::User);
    instance.args = args_type(std::move(format->fields));
    return true;
  }

  bool describe_typed(Instance& instance, const AttachPoint& point,
                      const Result<FunctionSignature>& signature) {
    if (!signature && options_.allows_missing) return skip(point, signature.error());
    if (!signature) {
      Error error = signature.error();
      if (error.hint.empty()) error.hint = hint_for_function(point.function, target_);
      return report(point, error);
    }
    instance.parameters = signature->args;
    instance.args = args_type(signature->args);
    instance.result = signature->result;
    instance.attach_btf_id = signature->btf_id;
    instance.attach_module = signature->module;
    return true;
  }

  // Debug information is read only for scripts that ask for it.
  bool describe_parameters(Instance& instance, const AttachPoint& point) {
    if (point.offset != 0)
      return report(point, {"'args' is known only where a function begins", 0, "use reg()"});
    UserFunction function{.name = point.function, .address = point.address};
    Result<std::vector<Field>> parameters = target_.user_parameters(point.target, function);
    if (!parameters) return report(point, parameters.error());
    instance.args = args_type(std::move(*parameters));
    return true;
  }

  bool describe_usdt(Instance& instance, const AttachPoint& point) {
    Result<std::vector<UsdtProbe>> probes = target_.usdt_probes(point.target);
    if (!probes) return report(point, probes.error());
    for (const UsdtProbe& probe : *probes)
      if (probe.provider == point.provider && probe.name == point.function &&
          probe.file_offset == point.file_offset)
        instance.usdt_args = probe.args;
    return true;
  }

  // --- whole-program checks ---------------------------------------------------------------------
  void check_imports() {
    Unstable allowed = program_.config.unstable_import_statement;
    for (const Import& import : ast_.imports) {
      if (allowed == Unstable::Error)
        diagnostics_.error(import.span, "'import' is switched off")
            .with_hint("switch it on: config = { unstable_import_statement = enable }");
      if (allowed == Unstable::Warn)
        diagnostics_.warning(import.span, "'import' may still change")
            .with_hint("config = { unstable_import_statement = enable } silences this");
    }
  }

  void check_limits() {
    if (attach_points_ > program_.config.max_probes)
      diagnostics_
          .error(probes_[0]->span,
                 fmt::format("the script attaches to {}, more than max_probes = {}",
                             counted(attach_points_, "place"), program_.config.max_probes))
          .with_hint("raise it in the config block: config = { max_probes = 5000 }");
    if (program_.instances.size() > program_.config.max_bpf_progs)
      diagnostics_
          .error(probes_[0]->span,
                 fmt::format("the script becomes {}, more than max_bpf_progs = {}",
                             counted(program_.instances.size(), "program"),
                             program_.config.max_bpf_progs))
          .with_hint(fmt::format("raise it in the config block: config = {{ max_bpf_progs = {} }}",
                                 program_.instances.size()));
    check_test_names();
  }

  // Results are told by name.
  void check_test_names() {
    std::map<std::string, Span> seen;
    for (const auto& instance : program_.instances)
      for (const AttachPoint& point : instance->attach) {
        if (!probe_row(point.kind).has(kOnDemand)) continue;
        auto [first, is_new] = seen.emplace(point.name, point.span);
        if (!is_new)
          diagnostics_.error(point.span, fmt::format("there are two probes '{}'", point.name))
              .with_note(first->second, "the first is here");
      }
  }

  void check_reports(const MapDecl& decl) {
    auto is_report = [](const AttachSpec& spec) {
      return spec.parts.size() > 1 && spec.parts[0] == "self" && spec.parts[1] == "report";
    };
    auto reports = [&](const Probe* probe) {
      return std::any_of(probe->attach.begin(), probe->attach.end(), is_report);
    };
    if (std::none_of(probes_.begin(), probes_.end(), reports))
      diagnostics_
          .error(decl.span, fmt::format("'{}' is per report, but nothing reports", decl.name))
          .with_hint("write a probe 'self:report', or leave out 'per report'");
  }

  void check_map_decls() {
    for (const MapDecl& decl : ast_.map_decls) {
      if (decl.is_per_report) check_reports(decl);
      if (decl.type.empty()) continue;
      bool known = decl.type == "hash" || decl.type == "lruhash" || decl.type == "percpuhash" ||
                   decl.type == "percpulruhash";
      if (!known)
        diagnostics_.error(decl.span, fmt::format("'{}' is not a type of map", decl.type))
            .with_hint("the types are hash, lruhash, percpuhash and percpulruhash");
      if (decl.entries == 0) diagnostics_.error(decl.span, "a map needs room for at least one key");
    }
  }

  // What a script's option switches off costs nothing. Where nothing else would be left to wait
  // for, all stays: a script must not end because of an option.
  void drop_probes_that_are_off() {
    auto is_event = [](const auto& instance) {
      return !probe_row(instance->kind).has(kRunByFlowtap);
    };
    auto is_off = [&](const auto& instance) {
      return is_event(instance) && instance->predicate &&
             program_.of(*instance->predicate).value == 0;
    };
    bool has_others =
        std::any_of(program_.instances.begin(), program_.instances.end(),
                    [&](const auto& instance) { return is_event(instance) && !is_off(instance); });
    if (has_others && !diagnostics_.has_errors()) std::erase_if(program_.instances, is_off);
  }

  // Functions know nothing of the probe they run in, so those that none calls are checked as if a
  // kprobe did, which may do most.
  void check_functions() {
    for (const Function& function : ast_.functions)
      if (find_builtin(function.name))
        diagnostics_.error(function.span,
                           fmt::format("'{}' is the name of a builtin", function.name));
    for (const ExprPtr& call : ast_.uncalled) {
      auto instance = std::make_unique<Instance>();
      instance->kind = ProbeKind::Kprobe;
      instance->program = ProgramType::Kprobe;
      instance->span = call->span;
      instance->is_uncalled = true;
      auto body = std::make_unique<Stmt>();
      body->span = call->span;
      body->node = ExprStmt{clone(*call, next_id_, &program_.origins)};
      instance->body.stmts.push_back(std::move(body));
      program_.instances.push_back(std::move(instance));
    }
  }

  // A macro that nobody calls may be there for other scripts.
  bool is_in_macro(const MapDecl& decl) const {
    bool found = false;
    auto look = [&](const Expr& expr) {
      const MapAccess* access = std::get_if<MapAccess>(&expr.node);
      found |= access && access->name == decl.name;
    };
    for (const Macro& macro : ast_.macros) for_each_expr(macro.body, look);
    return found;
  }

  void check_unused_maps() {
    for (const MapDecl& decl : ast_.map_decls) {
      bool is_used = std::any_of(program_.maps.begin(), program_.maps.end(),
                                 [&](const MapInfo& map) { return map.name == decl.name; });
      if (!is_used && !is_in_macro(decl))
        diagnostics_.warning(decl.span, fmt::format("map '{}' is never used", decl.name));
    }
  }

  // What `-- --help` asks for.
  std::string describe_options() const {
    std::string out = "the options of this script are";
    for (const ScriptOption& option : program_.options)
      out += fmt::format("\n  --{}{}{}", option.name, option.description.empty() ? "" : ": ",
                         option.description);
    return program_.options.empty() ? "this script has no options" : out;
  }

  void check_options() {
    if (diagnostics_.has_errors()) return;
    std::vector<std::string> known;
    for (const ScriptOption& option : program_.options) known.push_back(option.name);
    for (const auto& [name, value] : options_.named) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      if (name == "help") {
        diagnostics_.error(kNowhere, describe_options());
        continue;
      }
      Diagnostic& report =
          diagnostics_.error(kNowhere, fmt::format("the script has no option --{}", name));
      if (!known.empty())
        report.with_hint(fmt::format("its options are: --{}", fmt::join(known, ", --")));
    }
  }

  const Ast& ast_;
  const CDeclarations& declarations_;
  const Target& target_;
  CheckOptions options_;
  Diagnostics& diagnostics_;
  uint32_t next_id_;                  // of a copied expression
  std::vector<const Probe*> probes_;  // of the plan
  CheckedProgram program_;
  MissingProbes missing_ = MissingProbes::Error;  // for the probe being expanded
  uint64_t attach_points_ = 0;
};

}  // namespace

bool is_report(const Instance& instance) {
  return !instance.attach.empty() && instance.attach[0].self_event == "report";
}

CheckedProgram check(const CheckInput& input, const Target& target, const CheckOptions& options,
                     Diagnostics& diagnostics) {
  return Checker(input, target, options, diagnostics).run();
}

std::string print_types(const CheckedProgram& program) {
  std::string out;
  for (const VariableInfo& variable : program.variables)
    out += fmt::format("${}: {}\n", written_name(variable.name), type_name(variable.type));
  for (const MapInfo& map : program.maps) {
    std::string key = map.is_scalar == true ? "" : fmt::format("[{}]", type_name(map.key));
    out += fmt::format("{}{}: {}\n", map.name, key, type_name(map.value));
  }
  return out;
}

}  // namespace flowtap
