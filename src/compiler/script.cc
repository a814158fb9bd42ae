// Parsing a script with its imports; see script.h.

#include "compiler/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/directory.h"
#include "base/text.h"
#include "builtins/builtins.h"
#include "builtins/probes.h"
#include "lang/expand.h"
#include "lang/parser.h"

namespace flowtap {

namespace {

// Defined for every script, since types come from BTF.
const std::vector<std::string> kPredefined = {"BPFTRACE_HAVE_BTF"};

ParseOptions parser_options(uint32_t first_id) {
  return {.is_builtin = [](std::string_view name) { return find_builtin(name) != nullptr; },
          .first_id = first_id};
}

Ast parse_file(Script& script, const std::string& name, const std::string& text) {
  uint32_t file = script.sources.add(name, text);
  return parse(script.sources, file, script.diagnostics, parser_options(script.ast.next_id));
}

void append(auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

std::vector<std::string> names_of(const std::vector<Plan>& plans) {
  std::vector<std::string> names;
  names.reserve(plans.size());
  for (const Plan& plan : plans) names.push_back(plan.name);
  return names;
}

// The number of the plan with this name; nothing when there is none.
std::optional<int> plan_number(const Ast& ast, const std::string& name) {
  for (size_t i = 0; i < ast.plans.size(); i++)
    if (ast.plans[i].name == name) return static_cast<int>(i);
  return std::nullopt;
}

// Probes of an imported plan join the plan of that name in the main script. It decides which plans
// there are, so those that it does not name are left out.
void merge_plans(const Ast& ast, Ast& other) {
  auto is_left_out = [&](Probe& probe) {
    if (probe.plan < 0) return false;
    std::optional<int> number = plan_number(ast, other.plans[static_cast<size_t>(probe.plan)].name);
    probe.plan = number.value_or(-1);
    return !number;
  };
  std::erase_if(other.probes, is_left_out);
}

void merge_plot(Script& script, Ast& other) {
  std::vector<PlotDecl>& plots = script.ast.plots;
  if (!plots.empty() && !other.plots.empty())
    script.diagnostics.error(other.plots[0].span, "a script has one plot")
        .with_note(plots[0].span, "the first one");
  append(plots, other.plots);
}

// A script with plans is imported for one of them.
void warn_of_unused_plans(Script& script, Span place, const std::string& name, const Ast& other) {
  auto is_used = [&](const Plan& plan) { return plan_number(script.ast, plan.name).has_value(); };
  if (other.plans.empty() || std::any_of(other.plans.begin(), other.plans.end(), is_used)) return;
  script.diagnostics.warning(place, fmt::format("no plan of '{}' is used", name))
      .with_hint(fmt::format("name those to use, best first: plan {};",
                             join(names_of(other.plans), "; plan ")));
}

void merge_file(Script& script, Span place, const std::string& name, const std::string& text) {
  Ast& ast = script.ast;
  Ast other = parse_file(script, name, text);
  ast.next_id = std::max(ast.next_id, other.next_id);
  if (!other.config.empty())
    script.diagnostics.error(
        place, fmt::format("'{}' has a config block, which only the main script may have", name));
  merge_plans(ast, other);
  warn_of_unused_plans(script, place, name, other);
  append(ast.c_definitions, other.c_definitions);
  append(ast.imports, other.imports);
  append(ast.map_decls, other.map_decls);
  append(ast.tables, other.tables);
  merge_plot(script, other);
  append(ast.macros, other.macros);
  append(ast.functions, other.functions);
  append(ast.probes, other.probes);
}

// Imports of an imported file start from where that file is.
std::string import_path(const Script& script, const Import& import) {
  if (import.span.file == 0) return import.path;
  std::error_code ignored;  // without a working directory the path stays as it is
  const std::string& importer = script.sources.file(import.span.file).name();
  std::filesystem::path file = std::filesystem::absolute(importer, ignored);
  return (file.parent_path() / import.path).string();
}

// Definitions of imported scripts go in front of the script's own.
void merge_imports(Script& script, const ReadImport& read) {
  std::set<std::string> seen;
  for (size_t i = 0; i < script.ast.imports.size(); i++) {
    Import import = script.ast.imports[i];
    if (!read) {
      script.diagnostics.error(import.span, "imports are not possible here");
      return;
    }
    auto files = read(import_path(script, import));
    if (!files) {
      script.diagnostics.error(import.span, files.error().message());
      continue;
    }
    for (auto& [name, text] : *files)
      if (seen.insert(real_path(name)).second) merge_file(script, import.span, name, text);
  }
}

// plan NAME; without a plan of that name in what is imported.
void check_imported_plans(Script& script) {
  for (size_t i = 0; i < script.ast.plans.size(); i++) {
    const Plan& plan = script.ast.plans[i];
    auto is_of_plan = [&](const Probe& probe) { return probe.plan == static_cast<int>(i); };
    const std::vector<Probe>& probes = script.ast.probes;
    if (!plan.is_imported || std::any_of(probes.begin(), probes.end(), is_of_plan)) continue;
    script.diagnostics
        .error(plan.span, fmt::format("no imported script has a plan '{}'", plan.name))
        .with_hint(fmt::format("write its probes here: plan {} {{ ... }}", plan.name));
  }
}

}  // namespace

Script::Script() = default;
Script::Script(Script&&) noexcept = default;
Script& Script::operator=(Script&&) noexcept = default;
Script::~Script() = default;

Script parse_script(const ScriptText& text) {
  Script script;
  script.ast = parse_file(script, text.name, text.text);
  if (!script.diagnostics.has_errors()) merge_imports(script, text.import);
  if (!script.diagnostics.has_errors()) check_imported_plans(script);
  if (script.diagnostics.has_errors()) return script;
  script.declarations = parse_c(script.ast.c_definitions, kPredefined, script.diagnostics);
  expand(script.ast, script.declarations.defines, {text.parameters}, script.diagnostics);
  return script;
}

void add_text(Script& script, const std::string& text) {
  if (!text.empty()) merge_file(script, {}, "command line", text);
}

// Probes that flowtap runs itself, or a clock, happen in no process that could be chosen.
void add_filter(Script& script, const std::string& condition) {
  if (condition.empty()) return;
  Ast& ast = script.ast;
  Span origin{script.sources.add("command line", condition), 0, 0};
  for (Probe& probe : ast.probes) {
    const ProbeRow* row = find_probe_kind(probe.attach[0].parts[0]);
    if (!row || row->has(kRunByFlowtap) || row->has(kOneCpu)) continue;
    ExprPtr filter = parse_expression(condition, origin, ast.next_id, script.diagnostics,
                                      parser_options(ast.next_id));
    if (!filter) return;
    if (!probe.predicate) {
      probe.predicate = std::move(filter);
      continue;
    }
    Span span = probe.predicate->span;
    probe.predicate = std::make_unique<Expr>(Expr{
        ast.next_id++, span, Binary{BinaryOp::And, std::move(filter), std::move(probe.predicate)}});
  }
}

std::vector<std::string> plan_names(const Script& script) {
  std::vector<std::string> names = names_of(script.ast.plans);
  if (names.empty()) names.emplace_back();
  return names;
}

std::string first_error(const Diagnostics& diagnostics, const Sources& sources) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::Error) continue;
    std::string line = place_prefix(sources, diagnostic.span) + diagnostic.message;
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  }
  return {};
}

}  // namespace flowtap
