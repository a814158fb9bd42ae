// Expressions, by recursive descent; binary operators by precedence climbing, so that a plain
// number costs a few calls and not one for each of the ten levels.
//
//   expression = conditional

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "lang/parser_class.h"

namespace flowtap {

namespace {

struct Operator {
  std::string_view text;
  int level;  // the higher, the tighter it binds
  BinaryOp op;
};

constexpr std::array<Operator, 18> kOperators = {{
    {"||", 1, BinaryOp::Or},
    {"&&", 2, BinaryOp::And},
    {"|", 3, BinaryOp::BitOr},
    {"^", 4, BinaryOp::BitXor},
    {"&", 5, BinaryOp::BitAnd},
    {"==", 6, BinaryOp::Equal},
    {"!=", 6, BinaryOp::NotEqual},
    {"<", 7, BinaryOp::Less},
    {">", 7, BinaryOp::Greater},
    {"<=", 7, BinaryOp::LessEqual},
    {">=", 7, BinaryOp::GreaterEqual},
    {"<<", 8, BinaryOp::ShiftLeft},
    {">>", 8, BinaryOp::ShiftRight},
    {"+", 9, BinaryOp::Add},
    {"-", 9, BinaryOp::Subtract},
    {"*", 10, BinaryOp::Multiply},
    {"/", 10, BinaryOp::Divide},
    {"%", 10, BinaryOp::Modulo},
}};

constexpr int kLowestLevel = 1;

const Operator* find_operator(const Token& token) {
  if (token.kind != TokenKind::Symbol) return nullptr;
  for (const Operator& op : kOperators)
    if (op.text == token.text) return &op;
  return nullptr;
}

std::optional<UnaryOp> find_unary(const Token& token) {
  if (token.text == "!") return UnaryOp::Not;
  if (token.text == "~") return UnaryOp::Complement;
  if (token.text == "-") return UnaryOp::Negate;
  if (token.text == "*") return UnaryOp::Dereference;
  if (token.text == "&") return UnaryOp::AddressOf;
  return std::nullopt;
}

bool is_variable_or_map(const Expr& expr) {
  return std::holds_alternative<Variable>(expr.node) ||
         std::holds_alternative<MapAccess>(expr.node);
}

}  // namespace

ExprPtr Parser::expression() {
  Depth depth(*this);
  if (failed_) return placeholder();
  return conditional();
}

//   conditional = binary [ "?" [expression] ":" conditional ]
ExprPtr Parser::conditional() {
  uint32_t begin = here().begin;
  ExprPtr condition = binary(kLowestLevel);
  if (!accept("?")) return condition;
  Ternary ternary;
  ternary.condition = std::move(condition);
  if (!accept(":")) {
    ternary.then = expression();
    expect(":", "after the first choice of '?'");
  }
  ternary.otherwise = expression();
  return make(since(begin), std::move(ternary));
}

//   binary = unary { operator unary }, operators of one level from left to right
ExprPtr Parser::binary(int lowest) {
  Depth depth(*this, 0);
  uint32_t begin = here().begin;
  ExprPtr left = unary();
  while (!failed_) {
    const Operator* op = find_operator(token());
    if (!op || op->level < lowest) break;
    if (in_predicate_ && at("/") && peek(1).text == "{") break;
    advance();
    depth.add(Depth::kChain);
    ExprPtr right = binary(op->level + 1);
    left = make(since(begin), Binary{op->op, std::move(left), std::move(right)});
  }
  return left;
}

//   unary = ("!" | "~" | "-" | "*" | "&" | "++" | "--" | "comptime") unary | cast | postfix
ExprPtr Parser::unary() {
  Depth depth(*this, Depth::kChain);
  if (failed_) return placeholder();
  uint32_t begin = here().begin;
  if (at("++") || at("--")) {
    Token op = take();
    return increment(unary(), op, true, begin);
  }
  if (accept("comptime")) {
    ExprPtr operand = unary();
    return make(since(begin), Comptime{std::move(operand)});
  }
  if (at("(") && at_cast()) return cast();
  std::optional<UnaryOp> op = find_unary(token());
  if (!op) return postfix();
  Token symbol = take();
  ExprPtr operand = unary();
  bool may_be_macro_param = std::holds_alternative<Identifier>(operand->node);
  if (op == UnaryOp::AddressOf && !is_variable_or_map(*operand) && !may_be_macro_param)
    fail(operand->span, "'&' takes the address of a variable or a map only");
  return make(since(begin), Unary{*op, std::move(operand)});
}

ExprPtr Parser::increment(ExprPtr target, const Token& op, bool is_prefix, uint32_t begin) {
  if (!is_variable_or_map(*target))
    fail(target->span, fmt::format("'{}' needs a variable or a map", op.text));
  int delta = op.text == "++" ? 1 : -1;
  return make(since(begin), Increment{is_prefix, delta, std::move(target)});
}

//   postfix = primary { member | "[" expression "]" | "++" | "--" }
ExprPtr Parser::postfix() {
  Depth depth(*this, 0);
  uint32_t begin = here().begin;
  ExprPtr expr = primary();
  for (; !failed_; depth.add(Depth::kChain)) {
    if (at(".") || at("->")) {
      expr = member(std::move(expr), begin);
    } else if (accept("[")) {
      ExprPtr index = expression();
      expect("]", "after the index");
      expr = make(since(begin), Index{std::move(expr), std::move(index)});
    } else if (at("++") || at("--")) {
      Token op = take();
      expr = increment(std::move(expr), op, false, begin);
    } else {
      break;
    }
  }
  return expr;
}

//   member = ("." | "->") ( word | integer )
ExprPtr Parser::member(ExprPtr base, uint32_t begin) {
  advance();
  bool is_index = at(TokenKind::Integer) &&
                  token().text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!at_word() && !is_index) {
    fail_expected("the name of a field");
    return base;
  }
  std::string name(take().text);
  return make(since(begin), Member{std::move(base), std::move(name)});
}

//   primary = integer | string | variable | parameter | map | word | "(" ... ")" | block
ExprPtr Parser::primary() {
  uint32_t begin = here().begin;
  if (at(TokenKind::Name) || at(TokenKind::Keyword)) return word();
  if (at(TokenKind::Map)) return map();
  if (at("(")) return parenthesised();
  if (at("{")) {
    Block inner = block(BlockKind::Value);
    return make(since(begin), BlockExpr{std::move(inner)});
  }
  Span span = here();
  if (at(TokenKind::Integer)) return make(span, IntegerLiteral{take().number});
  if (at(TokenKind::String)) return make(span, StringLiteral{take().value});
  if (at(TokenKind::Variable)) return make(span, Variable{take().value});
  if (at(TokenKind::Parameter)) return make(span, Parameter{static_cast<uint32_t>(take().number)});
  fail_expected("an expression");
  return placeholder();
}

//   word = "true" | "false" | size_of | offset_of | type_of | type_info | if_expression
//        | "config" | call | name
ExprPtr Parser::word() {
  Span span = here();
  if (accept("true")) return make(span, BoolLiteral{true});
  if (accept("false")) return make(span, BoolLiteral{false});
  if (at("sizeof")) return size_of();
  if (at("offsetof")) return offset_of();
  if (at("has_field") && peek(1).text == "(") return offset_of();
  if (at("typeof")) return type_of();
  if (at("typeinfo")) return type_info();
  if (at("if")) {
    ExprPtr branch = if_expression();
    const IfExpr& parts = std::get<IfExpr>(branch->node);
    if (!parts.then.result || !parts.otherwise.result)
      fail(span, "an 'if' used as a value needs a value in each branch, and an 'else'");
    return branch;
  }
  if (token().kind == TokenKind::Name && peek(1).text == "(") return call();
  if (token().kind == TokenKind::Name || at("config"))
    return make(span, Identifier{std::string(take().text)});
  fail_expected("an expression");
  return placeholder();
}

//   map = map_name [ "[" expression { "," expression } "]" ]
ExprPtr Parser::map() {
  uint32_t begin = here().begin;
  MapAccess access;
  access.name = take().text;
  if (!accept("[")) return make(since(begin), std::move(access));
  uint32_t key_begin = here().begin;
  access.key = expression();
  if (accept(",")) {
    TupleExpr key;
    key.elements.push_back(std::move(access.key));
    for (ExprPtr& rest : expressions("]")) key.elements.push_back(std::move(rest));
    access.key = make(since(key_begin), std::move(key));
  }
  expect("]", "after the key of the map");
  return make(since(begin), std::move(access));
}

//   parenthesised = "(" ")" | "(" record ")" | "(" expression ")"
//                 | "(" expression "," [ expression { "," expression } [","] ] ")"
ExprPtr Parser::parenthesised() {
  uint32_t begin = here().begin;
  advance();
  if (accept(")")) return make(since(begin), TupleExpr{});
  if (at_word() && peek(1).text == "=") return record(begin);
  ExprPtr first = expression();
  if (!at(",")) {
    expect(")", "to close the parenthesis");
    first->span = since(begin);
    return first;
  }
  TupleExpr tuple;
  tuple.elements.push_back(std::move(first));
  while (accept(",") && !at(")")) tuple.elements.push_back(expression());
  expect(")", "to close the tuple");
  return make(since(begin), std::move(tuple));
}

//   record = word "=" expression { "," word "=" expression } [","]
ExprPtr Parser::record(uint32_t begin) {
  RecordExpr record;
  do {
    if (at(")")) break;
    if (!at_word()) {
      fail_expected("the name of a field");
      break;
    }
    std::string name(token().text);
    if (std::find(record.names.begin(), record.names.end(), name) != record.names.end())
      fail(here(), fmt::format("the record has a field '{}' already", name));
    advance();
    expect("=", "after the name of a field");
    record.names.push_back(std::move(name));
    record.elements.push_back(expression());
  } while (accept(","));
  expect(")", "to close the record");
  return make(since(begin), std::move(record));
}

//   call = name "(" [ argument { "," argument } ] ")"
ExprPtr Parser::call() {
  uint32_t begin = here().begin;
  Call call;
  call.name = take().text;
  advance();
  if (!at(")")) {
    do call.args.push_back(argument());
    while (accept(","));
  }
  expect(")", fmt::format("to close the call of '{}'", call.name));
  return make(since(begin), std::move(call));
}

//   argument = expression | ("struct" | "union" | "enum") ...
//   A bare type as argument means the same as typeof(type).
ExprPtr Parser::argument() {
  if (!at("struct") && !at("union") && !at("enum")) return expression();
  uint32_t begin = here().begin;
  TypeSpec spec = type();
  return make(since(begin), Typeof{std::move(spec)});
}

// Expressions up to `closing`, which is not taken.
std::vector<ExprPtr> Parser::expressions(std::string_view closing) {
  std::vector<ExprPtr> list;
  do list.push_back(expression());
  while (accept(",") && !at(closing));
  return list;
}

}  // namespace flowtap
