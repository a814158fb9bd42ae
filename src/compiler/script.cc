// Parsing a script with its imports; see script.h.

#include "compiler/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/directory.h"
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

// Plans of one name are one plan; others come after those that are there.
int plan_number(Ast& ast, const Plan& plan) {
  auto same = [&](const Plan& other) { return other.name == plan.name; };
  auto found = std::find_if(ast.plans.begin(), ast.plans.end(), same);
  if (found == ast.plans.end()) found = ast.plans.insert(found, plan);
  return static_cast<int>(found - ast.plans.begin());
}

void append(auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

void merge_file(Script& script, Span place, const std::string& name, const std::string& text) {
  Ast& ast = script.ast;
  Ast other = parse_file(script, name, text);
  ast.next_id = std::max(ast.next_id, other.next_id);
  if (!other.config.empty())
    script.diagnostics.error(
        place, fmt::format("'{}' has a config block, which only the main script may have", name));
  for (Probe& probe : other.probes)
    if (probe.plan >= 0)
      probe.plan = plan_number(ast, other.plans[static_cast<size_t>(probe.plan)]);
  append(ast.c_definitions, other.c_definitions);
  append(ast.imports, other.imports);
  append(ast.map_decls, other.map_decls);
  append(ast.tables, other.tables);
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
    if (!files.ok()) {
      script.diagnostics.error(import.span, files.error().message());
      continue;
    }
    for (auto& [name, text] : *files)
      if (seen.insert(real_path(name)).second) merge_file(script, import.span, name, text);
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
  std::vector<std::string> names;
  for (const Plan& plan : script.ast.plans) names.push_back(plan.name);
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
