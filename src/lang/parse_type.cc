// Types where they can be written: casts, `let $x: type`, sizeof, offsetof, typeof.
//
// A parenthesis may begin a cast or hold an expression, and `(a)*b` is either a cast of *b or a
// product. Names of types are not known here (BTF has thousands), so the rule goes by what
// follows: `(name)` before an operand is a cast, and so it is before '*' unless the name is known
// to be a value: a builtin, a #define, a parameter of the macro.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lang/parser_class.h"

namespace flowtap {

namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "bool",   "int8",   "int16",  "int32",  "int64", "uint8", "uint16",
    "uint32", "uint64", "string", "buffer", "inet",  "void",
};

// C's integer types are made of several of these.
constexpr std::array<std::string_view, 6> kIntegerWords = {"char", "short",  "int",
                                                           "long", "signed", "unsigned"};

bool is_tag_keyword(std::string_view word) {
  return word == "struct" || word == "union" || word == "enum";
}

// Names that can be nothing but types; by custom those ending in _t belong to them.
bool is_type_name(std::string_view word) {
  return contains(kTypeNames, word) || contains(kIntegerWords, word) || word.ends_with("_t");
}

}  // namespace

// Is this name known to stand for a value?
bool Parser::is_value_name(std::string_view name) const {
  if (constants_.contains(std::string(name))) return true;
  return options_.is_builtin && options_.is_builtin(name);
}

bool Parser::begins_operand(const Token& token) const {
  switch (token.kind) {
    case TokenKind::Integer:
    case TokenKind::String:
    case TokenKind::Name:
    case TokenKind::Variable:
    case TokenKind::Parameter:
    case TokenKind::Map: return true;
    default: return token.text == "(" || token.text == "sizeof" || token.text == "offsetof";
  }
}

// Where the type that begins at token `ahead` ends, going by its form alone; `ahead` if none does.
size_t Parser::skip_type(size_t ahead) {
  size_t end = ahead;
  if (is_tag_keyword(peek(end).text)) end++;
  if (peek(end).kind != TokenKind::Name) return ahead;
  bool is_integer = contains(kIntegerWords, peek(end).text);
  end++;
  while (is_integer && contains(kIntegerWords, peek(end).text)) end++;
  while (true) {
    if (peek(end).text == "*") {
      end++;
    } else if (peek(end).text == "[" && peek(end + 1).text == "]") {
      end += 2;
    } else if (peek(end).text == "[" && peek(end + 1).kind == TokenKind::Integer &&
               peek(end + 2).text == "]") {
      end += 3;
    } else {
      return end;
    }
  }
}

// Does a type rather than an expression stand here? Only asked where both may.
bool Parser::at_type(size_t ahead) {
  const Token& first = peek(ahead);
  if (is_tag_keyword(first.text)) return true;
  if (first.kind != TokenKind::Name) return false;
  if (is_type_name(first.text)) return peek(ahead + 1).text != "(";
  size_t end = skip_type(ahead);
  return peek(end - 1).text == "*" && (peek(end).text == ")" || peek(end).text == ",");
}

// At "(": does a cast begin here?
bool Parser::at_cast() {
  const Token first = peek(1);
  if (is_tag_keyword(first.text) || first.text == "typeof") return true;
  size_t end = skip_type(1);
  if (end == 1 || peek(end).text != ")") return false;
  if (is_type_name(first.text)) return true;
  if (peek(end - 1).text == "*") return true;
  if (begins_operand(peek(end + 1)))
    return !options_.is_builtin || !options_.is_builtin(first.text);
  bool is_plain_name = end == 2;
  return is_plain_name && peek(end + 1).text == "*" && !is_value_name(first.text);
}

//   type = type_name { "*" | "[" [integer] "]" }
TypeSpec Parser::type() {
  Depth depth(*this);
  TypeSpec spec;
  uint32_t begin = here().begin;
  if (failed_) return spec;
  type_name(spec);
  type_suffixes(spec);
  spec.span = since(begin);
  return spec;
}

//   type_name = ("struct" | "union" | "enum") name | name | integer_word { integer_word }
//             | "typeof" "(" ( type | expression ) ")"
void Parser::type_name(TypeSpec& spec) {
  if (accept("typeof")) {
    expect("(", "after 'typeof'");
    if (at_type()) {
      spec = type();
    } else {
      spec.of = expression();
    }
    expect(")", "to close 'typeof'");
    return;
  }
  if (at("struct") || at("union") || at("enum")) {
    std::string keyword(take().text);
    if (!at(TokenKind::Name)) fail_expected(fmt::format("a name after '{}'", keyword));
    spec.name = keyword + " ";
  }
  if (!at(TokenKind::Name)) return fail_expected("a type");
  bool is_integer = spec.name.empty() && contains(kIntegerWords, token().text);
  spec.name += take().text;
  while (is_integer && at(TokenKind::Name) && contains(kIntegerWords, token().text))
    spec.name += " " + std::string(take().text);
}

void Parser::type_suffixes(TypeSpec& spec) {
  while (!failed_) {
    if (accept("*")) {
      spec.suffixes.push_back({.is_pointer = true, .count = -1});
    } else if (accept("[")) {
      int64_t count = -1;
      if (at(TokenKind::Integer)) count = static_cast<int64_t>(take().number & INT64_MAX);
      expect("]", "after the length of the array");
      spec.suffixes.push_back({.is_pointer = false, .count = count});
    } else {
      return;
    }
  }
}

//   cast = "(" type ")" unary
ExprPtr Parser::cast() {
  uint32_t begin = here().begin;
  advance();
  Cast cast;
  cast.type = type();
  expect(")", "after the type of the cast");
  cast.operand = unary();
  return make(since(begin), std::move(cast));
}

//   size_of = "sizeof" "(" ( type | expression ) ")"
ExprPtr Parser::size_of() {
  uint32_t begin = here().begin;
  advance();
  Sizeof size;
  expect("(", "after 'sizeof'");
  if (at_type() || at("typeof")) {
    size.type = type();
  } else {
    size.operand = expression();
  }
  expect(")", "to close 'sizeof'");
  return make(since(begin), std::move(size));
}

//   offset_of = ("offsetof" | "has_field") "(" ( type | expression ) "," word { "." word } ")"
ExprPtr Parser::offset_of() {
  uint32_t begin = here().begin;
  Offsetof offset;
  std::string word(take().text);
  offset.only_asks = word == "has_field";
  expect("(", fmt::format("after '{}'", word));
  if (at_type() || at("typeof")) {
    offset.type = type();
  } else {
    offset.operand = expression();
  }
  expect(",", fmt::format("after the type of '{}'", word));
  do {
    if (!at_word()) {
      fail_expected("the name of a field");
      break;
    }
    offset.path.emplace_back(take().text);
  } while (accept("."));
  expect(")", fmt::format("to close '{}'", word));
  return make(since(begin), std::move(offset));
}

//   type_of = "typeof" "(" ( type | expression ) ")"
ExprPtr Parser::type_of() {
  uint32_t begin = here().begin;
  TypeSpec spec;
  type_name(spec);
  Span span = since(begin);
  spec.span = span;
  return make(span, Typeof{std::move(spec)});
}

//   type_info = "typeinfo" "(" ( type | expression ) ")"
//   Kept as a call of `typeinfo` with the type as its argument.
ExprPtr Parser::type_info() {
  uint32_t begin = here().begin;
  advance();
  expect("(", "after 'typeinfo'");
  uint32_t type_begin = here().begin;
  TypeSpec spec;
  if (at_type() || at("typeof")) {
    spec = type();
  } else {
    spec.of = expression();
  }
  spec.span = since(type_begin);
  expect(")", "to close 'typeinfo'");
  Call call;
  call.name = "typeinfo";
  Span span = spec.span;
  call.args.push_back(make(span, Typeof{std::move(spec)}));
  return make(since(begin), std::move(call));
}

}  // namespace flowtap
