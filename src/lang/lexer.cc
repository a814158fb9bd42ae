// The lexer. Way in: Lexer::next(), or lex() for a whole text.
//
// Longest match: "<<=" is one token, "1..5" is 1, "..", 5. A token with a mistake in it (a number
// out of range, an open string) keeps its kind and carries the message, so that the parser can go
// on as if the token were right and only one message comes out.

#include "lang/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "lang/integer.h"

namespace flowtap {

namespace {

constexpr std::string_view kKeywords[] = {
    "break",  "comptime", "config",   "continue", "else",  "enum",     "false",  "fn",
    "for",    "if",       "import",   "let",      "macro", "offsetof", "return", "sizeof",
    "struct", "true",     "typeinfo", "typeof",   "union", "unroll",   "while",
};

// Longer symbols before their prefixes.
constexpr std::string_view kSymbols[] = {
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
    "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "->", "..", "{",  "}",
    "(",   ")",   "[",  "]",  ";",  ":",  ",",  ".",  "=",  "<",  ">",  "+",
    "-",   "*",   "/",  "%",  "&",  "|",  "^",  "!",  "~",  "?",  "#",
};

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_part(char c) { return is_word_start(c) || is_digit(c); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A character as it can be shown in a message.
std::string shown(char c) {
  unsigned char byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
}

// Reads one escape sequence, `at` standing behind the backslash and in the end behind all of it.
//   escape = "n" | "t" | "r" | '"' | "\" | octal [octal [octal]] | ("x"|"X") hex [hex]
std::string read_escape(std::string_view text, size_t& at, std::string& value) {
  char c = at < text.size() ? text[at++] : '\0';
  if (c == 'n') return value += '\n', "";
  if (c == 't') return value += '\t', "";
  if (c == 'r') return value += '\r', "";
  if (c == '"' || c == '\\') return value += c, "";
  size_t limit;
  int number = 0;
  if (c == 'x' || c == 'X') {
    limit = std::min(text.size(), at + 2);
    if (at >= text.size() || hex_value(text[at]) < 0) return "'\\x' needs a hexadecimal digit";
    while (at < limit && hex_value(text[at]) >= 0) number = number * 16 + hex_value(text[at++]);
  } else if (c >= '0' && c <= '7') {
    limit = std::min(text.size(), --at + 3);
    size_t begin = at;
    while (at < limit && text[at] >= '0' && text[at] <= '7')
      number = number * 8 + (text[at++] - '0');
    if (number > 255)
      return fmt::format("octal escape '\\{}' is larger than '\\377'",
                         text.substr(begin, at - begin));
  } else {
    return fmt::format("unknown escape sequence '\\{}'", shown(c));
  }
  value += static_cast<char>(number);
  return "";
}

}  // namespace

bool is_keyword(std::string_view word) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

Lexer::Lexer(std::string_view text, uint32_t file, uint32_t base)
    : text_(text), file_(file), base_(base) {}

void Lexer::seek(uint32_t offset) {
  at_ = std::min<size_t>(offset - base_, text_.size());
  open_comment_ = std::string_view::npos;
}

char Lexer::peek(size_t ahead) const {
  return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

size_t Lexer::word_end(size_t from) const {
  while (from < text_.size() && is_word_part(text_[from])) from++;
  return from;
}

void Lexer::skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

//   comment = "//" ... end of line | "/*" ... "*/"
bool Lexer::skip_comment() {
  if (peek() != '/') return false;
  if (peek(1) == '/') return skip_line(), true;
  if (peek(1) != '*') return false;
  size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) open_comment_ = at_;
  at_ = end == std::string_view::npos ? text_.size() : end + 2;
  return true;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(peek())) {
      at_++;
    } else if (at_start_ && peek() == '#' && peek(1) == '!') {
      skip_line();
      at_start_ = false;
    } else if (!skip_comment()) {
      return;
    }
  }
}

// Builds the token and moves behind it.
Token Lexer::make(TokenKind kind, size_t begin, size_t end) {
  Token token;
  token.kind = kind;
  token.span =
      Span{file_, static_cast<uint32_t>(base_ + begin), static_cast<uint32_t>(base_ + end)};
  token.text = text_.substr(begin, end - begin);
  at_ = end;
  return token;
}

Token Lexer::bad(size_t begin, size_t end, std::string error, std::string hint) {
  Token token = make(TokenKind::Bad, begin, end);
  token.error = std::move(error);
  token.hint = std::move(hint);
  return token;
}

Token Lexer::next() {
  skip_blanks();
  at_start_ = false;
  if (at_ >= text_.size()) {
    if (open_comment_ == std::string_view::npos)
      return make(TokenKind::End, text_.size(), text_.size());
    size_t begin = open_comment_;
    open_comment_ = std::string_view::npos;
    Token token = bad(begin, begin + 2, "comment is never closed", "close it with '*/'");
    at_ = text_.size();
    return token;
  }
  char c = peek();
  if (is_digit(c)) return read_integer();
  if (is_word_start(c)) return read_word();
  if (c == '"') return read_string();
  if (c == '$') return read_dollar();
  if (c == '@') return read_map();
  return read_symbol();
}

Token Lexer::read_integer() {
  Token token = make(TokenKind::Integer, at_, word_end(at_));
  IntegerText number = parse_integer_text(token.text);
  token.number = number.value;
  token.error = number.error;
  token.hint = number.hint;
  return token;
}

Token Lexer::read_word() {
  Token token = make(TokenKind::Name, at_, word_end(at_));
  if (is_keyword(token.text)) token.kind = TokenKind::Keyword;
  return token;
}

Token Lexer::read_string() {
  std::string value, error;
  size_t begin = at_, at = at_ + 1;
  while (at < text_.size() && text_[at] != '"' && text_[at] != '\n') {
    if (text_[at] != '\\') {
      value += text_[at++];
      continue;
    }
    if (at + 1 < text_.size() && text_[at + 1] == '\n') break;
    std::string wrong = read_escape(text_, ++at, value);
    if (error.empty()) error = wrong;
  }
  bool is_closed = at < text_.size() && text_[at] == '"';
  // What follows an open string was probably meant to be outside of it: better stop there.
  Token token = make(is_closed ? TokenKind::String : TokenKind::Bad, begin, at + is_closed);
  token.value = std::move(value);
  token.error = is_closed ? error : "string is not closed on this line";
  return token;
}

//   dollar = "$" name | "$" digits | "$#"
Token Lexer::read_dollar() {
  size_t begin = at_;
  char c = peek(1);
  if (c == '#') return make(TokenKind::Parameter, begin, begin + 2);
  if (is_word_start(c)) {
    Token token = make(TokenKind::Variable, begin, word_end(begin + 1));
    token.value = token.text.substr(1);
    return token;
  }
  if (!is_digit(c)) return bad(begin, begin + 1, "expected a name or a number after '$'");
  size_t end = begin + 1;
  uint64_t number = 0;
  while (end < text_.size() && is_digit(text_[end])) {
    number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(text_[end++] - '0'), 1u << 30);
  }
  Token token = make(TokenKind::Parameter, begin, end);
  token.number = std::max<uint64_t>(number, 1);
  if (number == 0) token.error = "parameters are counted from '$1'; there is no '$0'";
  if (number >= 10'000) token.error = fmt::format("there is no parameter '{}'", token.text);
  return token;
}

Token Lexer::read_map() {
  size_t end = at_ + 1;
  if (is_word_start(peek(1))) end = word_end(end);
  return make(TokenKind::Map, at_, end);
}

Token Lexer::read_symbol() {
  std::string_view rest = text_.substr(at_);
  for (std::string_view symbol : kSymbols)
    if (rest.starts_with(symbol)) return make(TokenKind::Symbol, at_, at_ + symbol.size());
  char c = peek();
  std::string hint;
  if (c == '\'') hint = "strings are written with double quotes";
  return bad(at_, at_ + 1, fmt::format("unexpected character '{}'", shown(c)), hint);
}

std::vector<Token> lex(const Sources& sources, uint32_t file, Diagnostics& diagnostics) {
  Lexer lexer(sources.file(file).text(), file);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.next());
    const Token& token = tokens.back();
    if (token.error.empty()) continue;
    diagnostics.error(token.span, token.error).with_hint(token.hint);
  } while (tokens.back().kind != TokenKind::End);
  return tokens;
}

}  // namespace flowtap
