// '#' lines. Way in: Directives::line(), once per line in the order of the text.
//
//   line = "#" ( "define" NAME [text] | "define" NAME"(" ... | "undef" NAME | "include" ...
//        | "if" constant | "ifdef" NAME | "ifndef" NAME | "elif" constant | "else" | "endif" )
//
// An #include is only recorded: kernel types come from BTF and constants from tables. A header in
// quotes may be the user's own. Lines have no continuation, as in bpftrace.

#include "lang/c_directives.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/lexer.h"
#include "lang/parser.h"

namespace flowtap {

namespace {

// The tokens of the line behind the '#'.
std::vector<Token> tokens_of(const CDefinition& definition) {
  Lexer lexer(definition.text, definition.span.file, definition.span.begin);
  std::vector<Token> tokens;
  lexer.next();
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next())
    tokens.push_back(token);
  return tokens;
}

bool is_word(const Token& token) {
  return token.kind == TokenKind::Name || token.kind == TokenKind::Keyword;
}

}  // namespace

Directives::Directives(std::span<const std::string> predefined, CDeclarations& out,
                       Diagnostics& diagnostics)
    : predefined_(predefined.begin(), predefined.end()), out_(out), diagnostics_(diagnostics) {}

void Directives::line(const CDefinition& definition, const ConstantLookup& lookup) {
  std::vector<Token> tokens = tokens_of(definition);
  if (tokens.empty()) return;
  std::string_view word = tokens[0].text;
  std::span<const Token> rest = std::span<const Token>(tokens).subspan(1);
  static constexpr std::string_view kConditionals[] = {"if",   "ifdef", "ifndef",
                                                       "elif", "else",  "endif"};
  if (std::find(std::begin(kConditionals), std::end(kConditionals), word) !=
      std::end(kConditionals))
    return conditional(word, definition.span, rest, lookup);
  if (!is_active()) return;
  if (word == "pragma") {
    if (!rest.empty() && rest[0].text == "pack")
      diagnostics_.error(rest[0].span, "'#pragma pack' is not possible here")
          .with_hint("give each struct the attribute: struct x { ... } __attribute__((packed));");
    return;
  }
  if (word == "define") return define(definition, tokens);
  if (word == "undef") return undefine(rest);
  if (word == "include") {
    size_t at = definition.text.find("include") + word.size();
    std::string_view file = trim(std::string_view(definition.text).substr(at));
    out_.includes.emplace_back(file);
    size_t end = file.starts_with('"') ? file.find('"', 1) : file.npos;
    if (end != file.npos)
      diagnostics_.warning(definition.span, "this header is not read: types come from BTF")
          .with_hint(fmt::format("for definitions of your own write: import {};",
                                 file.substr(0, end + 1)));
    return;
  }
  Diagnostic& report =
      diagnostics_.error(tokens[0].span, fmt::format("unknown directive '#{}'", word));
  bool is_comment = definition.text.starts_with("# ");
  if (is_comment) report.with_hint("comments begin with //");
}

void Directives::define(const CDefinition& definition, const std::vector<Token>& tokens) {
  if (tokens.size() < 2 || !is_word(tokens[1])) {
    diagnostics_.error(definition.span, "expected a name after '#define'");
    return;
  }
  CDefine define;
  define.name = tokens[1].text;
  define.span = tokens[1].span;
  if (tokens.size() > 2) {
    // C tells `f(x)` from `f (x)`: only the first takes arguments.
    define.is_function = tokens[2].text == "(" && tokens[2].span.begin == tokens[1].span.end;
    define.span = cover(tokens[2].span, tokens.back().span);
    define.text = definition.text.substr(define.span.begin - definition.span.begin,
                                         define.span.end - define.span.begin);
  }
  undefine(std::span(tokens).subspan(1, 1));
  out_.defines.push_back(std::move(define));
}

void Directives::undefine(std::span<const Token> rest) {
  if (rest.empty()) return;
  std::erase_if(out_.defines, [&](const CDefine& d) { return d.name == rest[0].text; });
  std::erase(predefined_, rest[0].text);
}

bool Directives::is_defined(const std::string& name) const {
  auto has_name = [&](const CDefine& d) { return d.name == name; };
  return std::find(predefined_.begin(), predefined_.end(), name) != predefined_.end() ||
         std::any_of(out_.defines.begin(), out_.defines.end(), has_name);
}

void Directives::conditional(std::string_view word, Span span, std::span<const Token> rest,
                             const ConstantLookup& lookup) {
  if (word == "ifdef" || word == "ifndef") {
    if (rest.empty() || !is_word(rest[0]))
      diagnostics_.error(span, fmt::format("expected a name after '#{}'", word));
    bool defined = !rest.empty() && is_defined(std::string(rest[0].text));
    return open(span, defined == (word == "ifdef"));
  }
  if (word == "if") return open(span, is_active() && evaluate(span, rest, lookup));
  if (open_.empty()) {
    diagnostics_.error(span, fmt::format("'#{}' without '#if'", word));
    return;
  }
  if (word == "endif") return open_.pop_back();
  if (word == "else") return branch(span, word, true);
  branch(span, word, !open_.back().was_active && evaluate(span, rest, lookup));
}

void Directives::open(Span span, bool condition) {
  bool outer = is_active();
  open_.push_back(
      {.span = span, .is_active = outer && condition, .was_active = !outer || condition});
}

// #elif or #else: counts if none of the earlier branches did.
void Directives::branch(Span span, std::string_view word, bool condition) {
  Open& open = open_.back();
  if (open.seen_else)
    diagnostics_.error(span, fmt::format("'#{}' after '#else'", word))
        .with_note(open.span, "the '#if' is here");
  open.seen_else = open.seen_else || word == "else";
  open.is_active = condition && !open.was_active;
  open.was_active = open.was_active || condition;
}

// A name that stands for nothing is 0 in a condition, as in C.
bool Directives::evaluate(Span span, std::span<const Token> rest, const ConstantLookup& lookup) {
  Diagnostics ignored;
  uint32_t ids = 1;
  ExprPtr expr;
  std::string text;
  if (!rest.empty()) {
    for (const Token& token : rest) text += std::string(token.text) + " ";
    expr = parse_expression(text, rest[0].span, ids, ignored);
  }
  ConstantContext context;
  context.lookup = [&](const std::string& name) { return lookup(name).value_or(0); };
  context.is_defined = [&](const std::string& name) { return is_defined(name); };
  std::optional<int64_t> value = expr ? evaluate_constant(*expr, context) : std::nullopt;
  if (!value) diagnostics_.error(span, "this condition is not a constant");
  return value.value_or(0) != 0;
}

void Directives::finish() {
  for (const Open& open : open_) diagnostics_.error(open.span, "this has no '#endif'");
}

}  // namespace flowtap
