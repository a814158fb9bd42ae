// The parser's dealings with tokens and mistakes, and its two ways in: parse() and
// parse_expression(). The grammar is in parse_program.cc, parse_probe.cc, parse_stmt.cc,
// parse_expr.cc and parse_type.cc; parser_class.h tells how they work together.

#include "lang/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/parser_class.h"

namespace flowtap {

// Nobody reads more, and a text that is no script at all would give thousands.
static constexpr size_t kMostMessages = 50;

Parser::Parser(std::string_view text, Span origin, Diagnostics& diagnostics,
               const ParseOptions& options)
    : text_(text),
      origin_(origin),
      lexer_(text, origin.file, origin.begin),
      diagnostics_(diagnostics),
      options_(options),
      messages_before_(diagnostics.all().size()),
      previous_end_(origin.begin) {
  ast_.next_id = options.first_id;
  seek(origin.begin);
}

const Token& Parser::peek(size_t n) {
  while (ahead_.size() <= n) ahead_.push_back(lexer_.next());
  return ahead_[n];
}

// What is wrong with a token is said when it becomes the current one. A token of no known kind
// stops the statement; others go on with a likely value.
void Parser::advance() {
  previous_end_ = token().span.end;
  ahead_.pop_front();
  if (diagnostics_.all().size() >= messages_before_ + kMostMessages) {
    ahead_.clear();
    lexer_.seek(static_cast<uint32_t>(origin_.begin + text_.size()));
  }
  const Token& next = token();
  if (next.error.empty()) return;
  if (!failed_) diagnostics_.error(next.span, next.error).with_hint(next.hint);
  if (next.kind == TokenKind::Bad) failed_ = true;
}

Token Parser::take() {
  Token taken = token();
  if (taken.kind != TokenKind::End) advance();
  return taken;
}

bool Parser::at(std::string_view text) {
  return !failed_ && token().kind != TokenKind::End && token().text == text;
}

bool Parser::at(TokenKind kind) { return !failed_ && token().kind == kind; }

bool Parser::at_word() { return at(TokenKind::Name) || at(TokenKind::Keyword); }

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

// `where` continues the message: "after this statement".
bool Parser::expect(std::string_view text, std::string_view where) {
  if (accept(text)) return true;
  bool is_comparison = (text == ")" || text == "/") && at("=");
  fail_expected(fmt::format("'{}' {}", text, where), is_comparison ? "did you mean '=='?" : "");
  return false;
}

// Go on reading tokens at this offset.
void Parser::seek(uint32_t offset) {
  lexer_.seek(offset);
  ahead_.clear();
  ahead_.push_back(Token{});
  ahead_.front().span = Span{origin_.file, offset, offset};
  advance();
}

std::string Parser::found() {
  if (token().kind == TokenKind::End) return "the end of the script";
  std::string_view text = token().text;
  if (text.size() > 40) return fmt::format("'{}...'", text.substr(0, 37));
  return fmt::format("'{}'", text);
}

Span Parser::here() { return token().span; }

// From `begin` to the end of the last token taken.
Span Parser::since(uint32_t begin) const {
  return Span{origin_.file, begin, std::max(begin, previous_end_)};
}

void Parser::fail(Span span, std::string message, std::string hint) {
  if (!failed_) diagnostics_.error(span, std::move(message)).with_hint(std::move(hint));
  failed_ = true;
}

// Something missing is shown where it should stand when the next token is on a later line.
void Parser::fail_expected(std::string_view what, std::string hint) {
  Span span = here();
  std::string_view between =
      text_.substr(previous_end_ - origin_.begin, span.begin - previous_end_);
  if (between.find('\n') != std::string_view::npos || token().kind == TokenKind::End)
    span = Span{origin_.file, previous_end_, previous_end_};
  if (hint.empty() && token().text == "#") hint = "comments begin with //";
  fail(span, fmt::format("expected {}, found {}", what, found()), std::move(hint));
}

ExprPtr Parser::placeholder() { return make(here(), IntegerLiteral{0}); }

// Skips a '{' and all up to its '}'.
void Parser::skip_braces() {
  int depth = 0;
  do {
    if (token().text == "{") depth++;
    if (token().text == "}") depth--;
    if (take().kind == TokenKind::End) return;
  } while (depth > 0);
}

// At the end of the script the parser stays failed: all that is missing there is one mistake.

// After a mistake inside a block: behind the next ';', behind a balanced {...}, or before the '}'
// that closes the block.
void Parser::recover_in_block() {
  while (token().kind != TokenKind::End && token().text != "}") {
    if (token().text == "{") {
      skip_braces();
      if (token().text != "else") break;
    } else if (take().text == ";") {
      break;
    }
  }
  failed_ = token().kind == TokenKind::End;
}

// After a mistake outside of all blocks: behind the next {...} or ';'.
void Parser::recover_at_top() {
  while (token().kind != TokenKind::End) {
    if (token().text == "{") {
      skip_braces();
      break;
    }
    std::string_view text = take().text;
    if (text == ";" || text == "}") break;
  }
  failed_ = token().kind == TokenKind::End;
}

void Parser::Depth::add(int amount) {
  added_ += amount;
  parser_.depth_ += amount;
  if (parser_.depth_ > kLimit)
    parser_.fail(parser_.here(),
                 fmt::format("this is nested more than {} levels deep", kLimit / kNesting));
}

Ast parse(const Sources& sources, uint32_t file, Diagnostics& diagnostics,
          const ParseOptions& options) {
  Span origin{file, 0, 0};
  return Parser(sources.file(file).text(), origin, diagnostics, options).program();
}

ExprPtr parse_expression(std::string_view text, Span origin, uint32_t& next_id,
                         Diagnostics& diagnostics, const ParseOptions& options) {
  ParseOptions continued = options;
  continued.first_id = next_id;
  Parser parser(text, origin, diagnostics, continued);
  ExprPtr expr = parser.whole_expression();
  next_id = parser.next_id();
  return expr;
}

}  // namespace flowtap
