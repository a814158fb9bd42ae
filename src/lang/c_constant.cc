// Evaluates constant expressions of C definitions; see c_constant.h. They are parsed by the
// script's own expression parser, whose grammar holds all of C's that matters here. Values are
// 64 bits wide and wrap around.

#include "lang/c_constant.h"

#include <array>

namespace flowtap {

namespace {

using Value = std::optional<int64_t>;

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

Value divide(int64_t a, int64_t b, bool wants_rest) {
  if (b == 0) return std::nullopt;
  if (b == -1) return wants_rest ? 0 : static_cast<int64_t>(0 - bits(a));
  return wants_rest ? a % b : a / b;
}

Value shift(int64_t a, int64_t b, bool is_left) {
  if (b < 0 || b > 63) return std::nullopt;
  return is_left ? static_cast<int64_t>(bits(a) << b) : a >> b;
}

Value apply(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::Or: return a || b;
    case BinaryOp::And: return a && b;
    case BinaryOp::BitOr: return a | b;
    case BinaryOp::BitXor: return a ^ b;
    case BinaryOp::BitAnd: return a & b;
    case BinaryOp::Equal: return a == b;
    case BinaryOp::NotEqual: return a != b;
    case BinaryOp::Less: return a < b;
    case BinaryOp::Greater: return a > b;
    case BinaryOp::LessEqual: return a <= b;
    case BinaryOp::GreaterEqual: return a >= b;
    case BinaryOp::ShiftLeft: return shift(a, b, true);
    case BinaryOp::ShiftRight: return shift(a, b, false);
    case BinaryOp::Add: return static_cast<int64_t>(bits(a) + bits(b));
    case BinaryOp::Subtract: return static_cast<int64_t>(bits(a) - bits(b));
    case BinaryOp::Multiply: return static_cast<int64_t>(bits(a) * bits(b));
    case BinaryOp::Divide: return divide(a, b, false);
    case BinaryOp::Modulo: return divide(a, b, true);
  }
  return std::nullopt;
}

Value apply(UnaryOp op, int64_t a) {
  switch (op) {
    case UnaryOp::Not: return !a;
    case UnaryOp::Complement: return ~a;
    case UnaryOp::Negate: return static_cast<int64_t>(0 - bits(a));
    default: return std::nullopt;
  }
}

Value evaluate_defined(const Call& call, const ConstantContext& context) {
  if (call.name != "defined" || call.args.size() != 1 || !context.is_defined) return std::nullopt;
  const Identifier* name = std::get_if<Identifier>(&call.args[0]->node);
  if (!name) return std::nullopt;
  return context.is_defined(name->name);
}

struct PlainType {
  std::string_view name;
  int64_t size;
};

constexpr std::array<PlainType, 24> kPlainTypes = {{
    {"char", 1},      {"unsigned char", 1}, {"short", 2},    {"unsigned short", 2},
    {"int", 4},       {"unsigned int", 4},  {"unsigned", 4}, {"long", 8},
    {"long long", 8}, {"unsigned long", 8}, {"size_t", 8},   {"unsigned long long", 8},
    {"bool", 1},      {"int8", 1},          {"uint8", 1},    {"int16", 2},
    {"uint16", 2},    {"int32", 4},         {"uint32", 4},   {"int64", 8},
    {"uint64", 8},    {"uint8_t", 1},       {"uint32_t", 4}, {"uint64_t", 8},
}};

}  // namespace

Value plain_size(const TypeSpec& type) {
  if (type.suffixes.size() == 1 && type.suffixes[0].is_pointer) return 8;
  if (!type.suffixes.empty()) return std::nullopt;
  for (const PlainType& plain : kPlainTypes)
    if (plain.name == type.name) return plain.size;
  return std::nullopt;
}

Value evaluate_constant(const Expr& expr, const ConstantContext& context) {
  if (auto* n = std::get_if<IntegerLiteral>(&expr.node)) return static_cast<int64_t>(n->value);
  if (auto* n = std::get_if<BoolLiteral>(&expr.node)) return n->value;
  if (auto* n = std::get_if<Identifier>(&expr.node)) return context.lookup(n->name);
  if (auto* n = std::get_if<Cast>(&expr.node)) return evaluate_constant(*n->operand, context);
  if (auto* n = std::get_if<Call>(&expr.node)) return evaluate_defined(*n, context);
  if (auto* n = std::get_if<Sizeof>(&expr.node))
    return n->operand ? std::nullopt : plain_size(n->type);
  if (auto* n = std::get_if<Unary>(&expr.node)) {
    Value operand = evaluate_constant(*n->operand, context);
    return operand ? apply(n->op, *operand) : std::nullopt;
  }
  if (auto* n = std::get_if<Binary>(&expr.node)) {
    Value left = evaluate_constant(*n->left, context);
    Value right = evaluate_constant(*n->right, context);
    return left && right ? apply(n->op, *left, *right) : std::nullopt;
  }
  if (auto* n = std::get_if<Ternary>(&expr.node)) {
    Value condition = evaluate_constant(*n->condition, context);
    if (!condition) return std::nullopt;
    if (*condition && !n->then) return condition;
    return evaluate_constant(*condition ? *n->then : *n->otherwise, context);
  }
  return std::nullopt;
}

}  // namespace flowtap
