// Reading a tool's head and declarations. Entry point: describe_script(). Nothing here asks the
// machine anything: help is the same everywhere.

#include "compiler/tool_about.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "builtins/builtins.h"
#include "lang/walk.h"

namespace flowtap {

// --- the head ---------------------------------------------------------------------------------
namespace {

struct HeadField {
  std::string_view word;
  std::string ToolHead::*text;
};
constexpr std::array<HeadField, 5> kFields = {{
    {"LAYER:", &ToolHead::layer},
    {"OVERHEAD:", &ToolHead::overhead},
    {"NEEDS:", &ToolHead::needs},
    {"SEE ALSO:", &ToolHead::see_also},
    {"EXAMPLE:", &ToolHead::example},
}};

// The lines of the first comment without their slashes.
std::vector<std::string> head_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(std::string(text), '\n')) {
    if (line.starts_with("#!") && lines.empty()) continue;
    if (!line.starts_with("//")) break;
    lines.push_back(line.substr(line.starts_with("// ") ? 3 : 2));
  }
  return lines;
}

void append_line(std::string& to, std::string_view line, char separator) {
  if (!to.empty()) to += separator;
  to += line;
}

}  // namespace

ToolHead parse_head(std::string_view text) {
  ToolHead head;
  std::string* open = nullptr;   // the field that lines go to; null: the description
  bool begins_paragraph = true;  // of the description
  for (const std::string& line : head_lines(text)) {
    if (open == &head.example) {
      append_line(head.example, line, '\n');
      continue;
    }
    if (head.summary.empty()) {
      size_t dash = line.find(" - ");
      if (dash != std::string::npos) head.summary = line.substr(dash + 3);
      continue;
    }
    if (trim(line).empty()) {
      open = nullptr;
      begins_paragraph = true;
      continue;
    }
    if (line.starts_with("PROCESS:")) {
      head.is_about_current = trim(line.substr(8)) == "current";
      continue;
    }
    auto field = std::find_if(kFields.begin(), kFields.end(),
                              [&](const HeadField& f) { return line.starts_with(f.word); });
    if (field != kFields.end()) {
      open = &(head.*(field->text));
      *open = trim(line.substr(field->word.size()));
    } else if (open) {
      append_line(*open, trim(line), ' ');
    } else {
      if (begins_paragraph && !head.description.empty()) head.description += "\n\n";
      if (begins_paragraph)
        head.description += trim(line);
      else
        append_line(head.description, trim(line), ' ');
      begins_paragraph = false;
    }
  }
  return head;
}

// --- options ----------------------------------------------------------------------------------
namespace {

// Zero and nothing mean "not asked for", which need not be said.
std::string fallback_text(const Expr& expr) {
  if (auto* number = std::get_if<IntegerLiteral>(&expr.node))
    return number->value ? fmt::format("{}", number->value) : "";
  if (auto* text = std::get_if<StringLiteral>(&expr.node)) return text->value;
  if (auto* flag = std::get_if<BoolLiteral>(&expr.node)) return flag->value ? "true" : "";
  return "";
}

Takes kind_of(const Expr& fallback) {
  if (std::holds_alternative<StringLiteral>(fallback.node)) return Takes::Text;
  if (std::holds_alternative<BoolLiteral>(fallback.node)) return Takes::Maybe;
  return Takes::Number;
}

void add_option(std::vector<ToolOption>& options, const Expr& expr) {
  const Call* call = std::get_if<Call>(&expr.node);
  const Builtin* builtin = call ? find_builtin(call->name) : nullptr;
  if (!builtin || builtin->id != Fn::Getopt || call->args.empty()) return;
  const StringLiteral* name = std::get_if<StringLiteral>(&call->args[0]->node);
  if (!name) return;
  for (const ToolOption& known : options)
    if (known.name == name->value) return;
  bool has_fallback = call->args.size() > 1;
  ToolOption option{.name = name->value};
  if (has_fallback) {
    option.takes = kind_of(*call->args[1]);
    option.fallback = fallback_text(*call->args[1]);
  }
  if (call->args.size() > 2)
    if (auto* doc = std::get_if<StringLiteral>(&call->args[2]->node)) option.doc = doc->value;
  options.push_back(std::move(option));
}

// self:report[:SECONDS]
std::optional<int64_t> interval_of(const Ast& ast) {
  for (const Probe& probe : ast.probes)
    for (const AttachSpec& spec : probe.attach)
      if (spec.parts.size() > 1 && spec.parts[0] == "self" && spec.parts[1] == "report")
        return spec.parts.size() > 2 ? parse_number(spec.parts[2]).value_or(0) : 0;
  return std::nullopt;
}

}  // namespace

Result<ToolAbout> describe_script(const std::string& name, const Script& script) {
  const Ast& ast = script.ast;
  const SourceFile& source = script.sources.file(0);
  if (script.diagnostics.has_errors())
    return Error{fmt::format("tool '{}' has an error: {}", name,
                             first_error(script.diagnostics, script.sources)),
                 0, fmt::format("flowtap {} shows all mistakes", source.name())};
  ToolAbout about{.name = name, .head = parse_head(source.text())};
  about.has_plot = !ast.plots.empty();
  for (const Plan& plan : ast.plans) about.plans.push_back(plan.name);
  for (const TableDecl& decl : ast.tables) {
    Table table{.name = decl.name};
    for (const ColumnDecl& column : decl.columns)
      if (const ColumnKindRow* kind = find_column_kind(column.kind))
        table.columns.push_back(make_column(column.name, kind->kind, column.doc));
    about.tables.push_back(std::move(table));
  }
  ExprVisitor look = [&](const Expr& expr) { add_option(about.options, expr); };
  for (const Probe& probe : ast.probes) {
    if (probe.predicate) for_each_expr(*probe.predicate, look);
    for_each_expr(probe.body, look);
  }
  about.interval = interval_of(ast);
  return about;
}

}  // namespace flowtap
