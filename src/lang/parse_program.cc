// The top level of a script: C definitions, configuration, imports, declarations and macros.
// Probes are in parse_probe.cc.
//
//   program = [shebang] { c_line | c_definition } { config | import }
//             { probe | plan | macro | function | map_declaration | table | plot }

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/parser_class.h"
#include "lang/raw_text.h"

namespace flowtap {

Ast Parser::program() {
  while (token().kind != TokenKind::End) {
    top_level_item();
    if (failed_) recover_at_top();
  }
  return std::move(ast_);
}

ExprPtr Parser::whole_expression() {
  ExprPtr expr = expression();
  if (!failed_ && token().kind != TokenKind::End) fail_expected("the end of the expression");
  return failed_ ? nullptr : std::move(expr);
}

// A new kind of declaration gets its line here, before the probes, which may begin with any word.
void Parser::top_level_item() {
  if (at("#")) return c_line();
  if (at("struct") || at("union") || at("enum")) return c_definition();
  if (at("typedef")) return type_definition();
  if (at("config")) return config();
  if (at("import")) return import();
  if (at("let")) return map_declaration();
  if (at("macro")) return macro();
  if (at("fn")) return function();
  if (at_table()) return table();
  if (at_plot()) return plot();
  if (at_plan()) return plan();
  probe();
}

// The order of sections is part of the language.
void Parser::check_order(Span span, std::string_view what) {
  if (!seen_code_) return;
  diagnostics_.error(span,
                     fmt::format("{} must stand before all probes, macros and declarations", what));
}

// The name a `#define` line gives a meaning to, if it is one.
static std::string defined_name(std::string_view line) {
  line = trim(line.substr(1));
  if (!line.starts_with("define")) return {};
  line = trim(line.substr(6));
  size_t end = line.find_first_of(" \t(");
  if (end != std::string_view::npos && line[end] == '(') return {};
  return std::string(line.substr(0, end));
}

//   c_line = "#" ... end of line
void Parser::c_line() {
  Span span = here();
  size_t begin = span.begin - origin_.begin;
  size_t end = line_end(text_, begin);
  span.end = static_cast<uint32_t>(origin_.begin + end);
  check_order(span, "C definitions");
  std::string text(text_.substr(begin, end - begin));
  constants_.insert(defined_name(text));
  ast_.c_definitions.push_back({span, std::move(text)});
  seek(span.end);
}

// The text is kept as it is: the C parser reads it.
void Parser::c_definition() {
  Span span = here();
  size_t begin = span.begin - origin_.begin;
  size_t end = c_definition_end(text_, begin);
  check_order(span, "C definitions");
  if (end == std::string_view::npos) {
    fail(span, fmt::format("this {} is never closed", token().text), "close it with '};'");
    seek(static_cast<uint32_t>(origin_.begin + text_.size()));
    return;
  }
  span.end = static_cast<uint32_t>(origin_.begin + end);
  std::string text(text_.substr(begin, end - begin));
  each_c_line(text, [&](size_t from, size_t to) {
    constants_.insert(defined_name(std::string_view(text).substr(from, to - from)));
  });
  ast_.c_definitions.push_back({span, std::move(text)});
  seek(span.end);
}

// C has them, and headers are full of them; what they stand for can always be written.
void Parser::type_definition() {
  Span span = here();
  for (int depth = 0; !at(TokenKind::End) && (depth > 0 || !at(";")); advance()) {
    if (at("{")) depth++;
    if (at("}")) depth--;
  }
  fail(span, "there is no 'typedef' here", "use the type itself, or a struct of that name");
}

//   config = "config" "=" "{" [ config_entry { ";" config_entry } [";"] ] "}"
void Parser::config() {
  Span span = here();
  advance();
  check_order(span, "'config'");
  if (seen_config_) diagnostics_.error(span, "there is a 'config' block already");
  seen_config_ = true;
  if (!expect("=", "after 'config'") || !expect("{", "after 'config ='")) return;
  while (!failed_ && !at("}") && !at(TokenKind::End)) config_entry();
  expect("}", "to close 'config'");
}

//   config_entry = name "=" ( string | integer | "true" | "false" | name )
void Parser::config_entry() {
  if (!at_word()) return fail_expected("the name of a setting");
  uint32_t begin = here().begin;
  ConfigEntry entry;
  entry.key = take().text;
  if (!expect("=", "after the name of a setting")) return;
  if (!at_word() && !at(TokenKind::String) && !at(TokenKind::Integer))
    return fail_expected("a string, a number, 'true', 'false' or a word");
  Token value = take();
  entry.value = value.kind == TokenKind::String ? value.value : std::string(value.text);
  entry.span = since(begin);
  ast_.config.push_back(std::move(entry));
  if (!at("}")) expect(";", "after this setting");
}

//   import = "import" string ";"
void Parser::import() {
  uint32_t begin = here().begin;
  advance();
  if (!at(TokenKind::String)) return fail_expected("a path in quotes after 'import'");
  Import import;
  import.path = take().value;
  import.span = since(begin);
  check_order(import.span, "imports");
  ast_.imports.push_back(std::move(import));
  expect(";", "after this import");
}

//   key_and_value_types = [ "[" type { "," type } "]" ] [ ":" type ]
void Parser::key_and_value_types(MapDecl& decl) {
  if (accept("[")) {
    do decl.keys.push_back(declared_type());
    while (!failed_ && accept(","));
    expect("]", "after the types of the keys");
  }
  if (!accept(":")) return;
  decl.has_value_type = true;
  decl.value = declared_type();
}

// There is nothing around a declaration that an expression could mean.
TypeSpec Parser::declared_type() {
  TypeSpec spec = type();
  if (spec.of) fail(spec.span, "the type of an expression is not known here", "name the type");
  return spec;
}

bool Parser::map_type(MapDecl& decl) {
  if (!expect("=", "after the name of the map")) return false;
  if (!at_word()) {
    fail_expected("a map type, such as 'hash' or 'lruhash'");
    return false;
  }
  decl.type = take().text;
  if (!expect("(", "after the map type")) return false;
  if (!at(TokenKind::Integer)) {
    fail_expected("the most entries the map may hold");
    return false;
  }
  decl.entries = take().number;
  expect(")", "after the number of entries");
  return true;
}

//   map_declaration = "let" map key_and_value_types [ "=" name "(" integer ")" ]
//                     [ "per" "report" | "pairs" name ] ";"
void Parser::map_declaration() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  if (!at(TokenKind::Map))
    return fail_expected("a map after 'let' outside of probes", "write 'let @name = hash(100);'");
  MapDecl decl;
  decl.name = take().text;
  key_and_value_types(decl);
  if (failed_) return;
  bool says_enough = !decl.keys.empty() || decl.has_value_type;
  bool ends_here = at("per") || at("pairs") || (says_enough && at(";"));
  if (!ends_here && !map_type(decl)) return;
  if (at("per")) {
    advance();
    decl.is_per_report = expect("report", "after 'per'");
  } else if (at("pairs")) {
    advance();
    if (!at_word()) return fail_expected("what ends an entry, such as 'returns'");
    decl.pairs = take().text;
  }
  decl.span = since(begin);
  ast_.map_decls.push_back(std::move(decl));
  expect(";", "after this declaration");
}

//   macro = "macro" name "(" macro_params ")" block
void Parser::macro() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  if (!at(TokenKind::Name)) return fail_expected("a name after 'macro'");
  Macro macro;
  macro.name = take().text;
  if (!expect("(", "after the name of the macro")) return;
  macro.params = macro_params();
  expect(")", "after the parameters");
  macro.span = since(begin);
  std::set<std::string> constants = constants_;
  for (const MacroParam& param : macro.params) constants_.insert(param.name);
  macro.body = block(BlockKind::Value);
  constants_ = std::move(constants);
  ast_.macros.push_back(std::move(macro));
}

//   macro_params = [ ( variable | map | name ) { "," ... } ]
std::vector<MacroParam> Parser::macro_params() {
  std::vector<MacroParam> params;
  if (at(")")) return params;
  do {
    MacroParam param;
    if (at(TokenKind::Variable)) {
      param = {MacroParam::Kind::Variable, token().value};
    } else if (at(TokenKind::Map) && token().text != "@") {
      param = {MacroParam::Kind::Map, std::string(token().text)};
    } else if (at(TokenKind::Name)) {
      param = {MacroParam::Kind::Expression, std::string(token().text)};
    } else {
      fail_expected("a parameter: '$name', '@name' or a name");
      break;
    }
    for (const MacroParam& other : params)
      if (other.name == param.name && other.kind == param.kind)
        diagnostics_.error(here(), fmt::format("there are two parameters '{}'", token().text));
    advance();
    params.push_back(std::move(param));
  } while (accept(","));
  return params;
}

// The word alone may be the name of a probe.
bool Parser::at_plan() {
  return at("plan") && (peek(1).text == "{" || peek(2).text == "{" || peek(2).text == ";");
}

//   plan = "plan" name ( "{" { probe } "}" | ";" )
void Parser::plan() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  if (!at(TokenKind::Name)) return fail_expected("a name after 'plan'");
  Plan plan;
  plan.name = take().text;
  plan.span = since(begin);
  plan.is_imported = accept(";");
  auto same = [&](const Plan& other) { return other.name == plan.name; };
  auto first = std::find_if(ast_.plans.begin(), ast_.plans.end(), same);
  bool is_new = first == ast_.plans.end();
  if (!is_new && plan.is_imported == first->is_imported)
    diagnostics_.error(plan.span, fmt::format("there are two plans '{}'", plan.name))
        .with_note(first->span, "the first one");
  if (is_new) first = ast_.plans.insert(first, plan);
  if (plan.is_imported) return;
  first->is_imported = false;  // it was named before
  plan_ = static_cast<int>(first - ast_.plans.begin());
  expect("{", "after the name of the plan");
  size_t before = ast_.probes.size();
  while (!failed_ && !at("}") && !at(TokenKind::End)) {
    plan_item();
    if (failed_) recover_at_top();
  }
  if (!failed_ && ast_.probes.size() == before)
    diagnostics_.error(plan.span, "this plan has no probe");
  expect("}", "to close the plan");
  plan_ = -1;
}

// The word alone may be the name of a probe.
bool Parser::at_table() {
  return at("table") && peek(1).kind == TokenKind::Name &&
         (peek(2).text == "{" || peek(2).text == "sorted");
}

void Parser::plan_item() {
  for (std::string_view word :
       {"macro", "fn", "let", "config", "import", "struct", "union", "enum", "#"})
    if (at(word))
      return fail(here(), fmt::format("'{}' cannot stand inside a plan", word),
                  "a plan holds probes; everything else stands outside and serves all plans");
  if (at_table())
    return fail(here(), "a table cannot stand inside a plan",
                "declare it outside: it then serves all plans");
  if (at_plot())
    return fail(here(), "a plot cannot stand inside a plan",
                "declare it outside: it then serves all plans");
  probe();
}

//   function = "fn" name "(" function_params ")" [ ":" type ] block
void Parser::function() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  if (!at(TokenKind::Name)) return fail_expected("a name after 'fn'");
  Function function;
  function.name = take().text;
  if (!expect("(", "after the name of the function")) return;
  function.params = function_params();
  expect(")", "after the parameters");
  if (accept(":")) {
    function.result = type();
    function.has_result = function.result.name != "void" || !function.result.suffixes.empty();
  }
  function.span = since(begin);
  function.body = block(BlockKind::Statements);
  if (!failed_) ast_.functions.push_back(std::move(function));
}

//   function_params = [ variable ":" type { "," variable ":" type } ]
std::vector<Function::Param> Parser::function_params() {
  std::vector<Function::Param> params;
  if (at(")")) return params;
  do {
    if (!at(TokenKind::Variable)) {
      fail_expected("a parameter: '$name : type'");
      break;
    }
    Function::Param param;
    param.span = here();
    param.name = take().value;
    for (const Function::Param& other : params)
      if (other.name == param.name)
        diagnostics_.error(param.span, fmt::format("there are two parameters '${}'", param.name));
    if (!expect(":", "and the type after the name of a parameter")) break;
    param.type = type();
    params.push_back(std::move(param));
  } while (!failed_ && accept(","));
  return params;
}

}  // namespace flowtap
