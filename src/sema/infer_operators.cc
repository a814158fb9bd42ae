// Operators; see infer_operators.h.

#include "sema/infer_operators.h"

#include <fmt/format.h>

namespace flowtap {

static const char* operator_text(BinaryOp op) {
  static constexpr const char* kTexts[] = {"||", "&&", "|",  "^",  "&", "==", "!=", "<", ">",
                                           "<=", ">=", "<<", ">>", "+", "-",  "*",  "/", "%"};
  return kTexts[static_cast<size_t>(op)];
}

static bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual;
}

void OperatorTypes::infer_unary(const Expr& expr, const Unary& node, ExprInfo& result) {
  Type type = expressions_.infer_value(*node.operand);
  bool counts = node.op == UnaryOp::Negate || node.op == UnaryOp::Complement;
  if (is(type, Kind::Unknown) && counts && walk_.assumes_numbers) type = int_type(8, true);
  if (is(type, Kind::Unknown)) return;
  const ExprInfo& operand = info(*node.operand);
  switch (node.op) {
    case UnaryOp::Not:
      if (!is_scalar(type)) {
        error(expr.span,
              fmt::format("'!' takes an integer, bool or pointer, found '{}'", type_name(type)));
        return;
      }
      result.type = bool_type();
      if (operand.value) result.value = !*operand.value;
      result.is_question = operand.is_question;
      return;
    case UnaryOp::Complement:
    case UnaryOp::Negate: {
      bool is_negate = node.op == UnaryOp::Negate;
      if (!is_integer(type)) {
        error(expr.span, fmt::format("'{}' takes an integer, found '{}'", is_negate ? "-" : "~",
                                     type_name(type)));
        return;
      }
      // An unsigned number wraps in its own width, as in C from 32 bits on; a literal has none yet.
      bool wraps = is(type, Kind::Int) && !type->is_signed && !operand.is_literal;
      Type computed = wraps ? type : int_type(8, is_negate || type->is_signed);
      if (operand.value) {
        uint64_t raw = static_cast<uint64_t>(*operand.value);
        auto value = static_cast<int64_t>(is_negate ? 0 - raw : ~raw);
        if (operand.is_cast) return set_typed_constant(result, value, computed);
        return set_constant(result, value, !is_negate && wraps);
      }
      result.type = computed;
      return;
    }
    case UnaryOp::Dereference:
      if (is_integer(type) && !operand.is_literal) {
        result.type = int_type(8, false);
        return;
      }
      if (!is(type, Kind::Pointer)) {
        error(expr.span, fmt::format("'*' takes a pointer, found '{}'", type_name(type)))
            .with_hint("cast it first: *(uint64 *)address");
        return;
      }
      if (is(type->element, Kind::None)) {
        error(expr.span, "a 'void *' points to nothing that could be read")
            .with_hint("cast it first: *(uint64 *)pointer");
        return;
      }
      result.type = types_.field_type({.name = {}, .type = type->element}, type->space);
      return;
    case UnaryOp::AddressOf: {
      bool is_place = std::holds_alternative<Variable>(node.operand->node) ||
                      std::holds_alternative<MapAccess>(node.operand->node);
      if (!is_place)
        error(expr.span, "'&' takes a variable or a map");
      else
        result.type = pointer_type(info(*node.operand).type, AddressSpace::Kernel);
      return;
    }
  }
}

// `has_field(...) && x`: what the machine's answer rules out is not looked at.
bool OperatorTypes::is_decided(const Binary& node, ExprInfo& result) {
  const ExprInfo& left = info(*node.left);
  bool ends =
      node.op == BinaryOp::Or ? left.value == 1 : node.op == BinaryOp::And && left.value == 0;
  if (!left.is_question || !ends) return false;
  result.type = bool_type();
  result.value = left.value;
  result.is_question = true;
  return true;
}

// Of an operation of which one side is known, and is a number.
Type OperatorTypes::assumed_number(const Binary& node, const Type& left, const Type& right) {
  const Type& known = is(left, Kind::Unknown) ? right : left;
  if (!is_integer(known)) return unknown_type();
  const Expr& side = is(left, Kind::Unknown) ? *node.right : *node.left;
  return int_type(8, node.op == BinaryOp::Subtract || known->is_signed || info(side).is_literal);
}

void OperatorTypes::infer_binary(const Expr& expr, const Binary& node, ExprInfo& result) {
  Type left = expressions_.infer_value(*node.left);
  if (is_decided(node, result)) return;
  Type right = expressions_.infer_value(*node.right);
  if (is(left, Kind::Unknown) || is(right, Kind::Unknown)) {
    if (is_comparison(node.op) || node.op <= BinaryOp::And)
      result.type = bool_type();
    else if (walk_.assumes_numbers)
      result.type = assumed_number(node, left, right);
    return;
  }
  if (node.op == BinaryOp::Or || node.op == BinaryOp::And) {
    arguments_.check_condition(*node.left);
    arguments_.check_condition(*node.right);
    result.type = bool_type();
    const ExprInfo &l = info(*node.left), &r = info(*node.right);
    bool is_or = node.op == BinaryOp::Or;
    if (l.value && (*l.value != 0) == is_or)
      result.value = is_or;  // whatever the right side is
    else if (l.value && r.value)
      result.value = *r.value != 0;
    result.is_question = l.is_question && r.is_question;
    return;
  }
  if (is_comparison(node.op)) return infer_comparison(expr, node, left, right, result);
  if (is(left, Kind::Pointer) || is(right, Kind::Pointer))
    return infer_pointer_arithmetic(expr, node, left, right, result);
  if (!is_integer(left) || !is_integer(right)) {
    error(expr.span, fmt::format("'{}' cannot join '{}' and '{}'", operator_text(node.op),
                                 type_name(left), type_name(right)));
    return;
  }
  if (info(*node.left).value && info(*node.right).value) return fold_binary(expr, node, result);
  result.type = arithmetic_type(expr, node);
}

// Is this a variable that only ever holds literals, none of them negative?
bool OperatorTypes::is_never_negative(const Expr& expr) {
  VariableId variable = info(expr).variable;
  return std::holds_alternative<Variable>(expr.node) && variable.is_set() &&
         program_.variables[variable].only_literals;
}

void OperatorTypes::warn_about_sign(const Expr& expr, const Binary& node) {
  auto may_be_negative = [&](const Expr& e) {
    return meeting(e).type->is_signed && !meeting(e).is_literal && !is_never_negative(e);
  };
  auto may_be_huge = [&](const Expr& e) {
    const Type type = meeting(e).type;
    return is(type, Kind::Int) && !type->is_signed && type->size == 8 && !info(e).value;
  };
  if ((may_be_negative(*node.left) && may_be_huge(*node.right)) ||
      (may_be_negative(*node.right) && may_be_huge(*node.left)))
    warning(expr.span, "a uint64 and a signed integer meet here and are taken as int64")
        .with_hint("cast one of them to say which is meant");
}

// 64 bits; signed when a signed operand takes part, literals following the other side.
Type OperatorTypes::arithmetic_type(const Expr& expr, const Binary& node) {
  Meeting l = meeting(*node.left), r = meeting(*node.right);
  if (node.op == BinaryOp::Subtract) return int_type(8, true);
  if (node.op == BinaryOp::ShiftLeft || node.op == BinaryOp::ShiftRight)
    return int_type(8, l.type->is_signed && !l.is_literal);
  bool l_signed = l.type->is_signed && !l.is_literal, r_signed = r.type->is_signed && !r.is_literal;
  if (node.op != BinaryOp::BitAnd) warn_about_sign(expr, node);
  if (l.is_literal && r.is_literal) return int_type(8, true);
  return int_type(8, l_signed || r_signed);
}

void OperatorTypes::fold_binary(const Expr& expr, const Binary& node, ExprInfo& result) {
  int64_t a = *info(*node.left).value, b = *info(*node.right).value;
  __int128 wide = 0;
  bool is_unsigned = info(*node.left).is_literal && info(*node.right).is_literal;
  bool divides = node.op == BinaryOp::Divide || node.op == BinaryOp::Modulo;
  // These look at the upper bits, so there the type of a cast decides.
  bool goes_by_type = divides || node.op == BinaryOp::ShiftRight;
  auto widen = [&](int64_t value, const Type& type) {
    bool has_no_sign = is_unsigned || (goes_by_type && !readable(type)->is_signed);
    return has_no_sign ? static_cast<__int128>(static_cast<uint64_t>(value)) : __int128{value};
  };
  __int128 wa = widen(a, info(*node.left).type), wb = widen(b, info(*node.right).type);
  bool shifts = node.op == BinaryOp::ShiftLeft || node.op == BinaryOp::ShiftRight;
  bool is_bad = (divides && b == 0) || (shifts && (b < 0 || b > 63));
  if (!is_bad) switch (node.op) {
      case BinaryOp::Add: wide = wa + wb; break;
      case BinaryOp::Subtract: wide = wa - wb; break;
      case BinaryOp::Multiply: wide = wa * wb; break;
      case BinaryOp::Divide: wide = wa / wb; break;
      case BinaryOp::Modulo: wide = wa % wb; break;
      case BinaryOp::ShiftLeft: wide = wa << b; break;
      case BinaryOp::ShiftRight: wide = wa >> b; break;
      case BinaryOp::BitAnd: wide = wa & wb; break;
      case BinaryOp::BitOr: wide = wa | wb; break;
      default: wide = wa ^ wb; break;
    }
  bool too_wide =
      wide > static_cast<__int128>(UINT64_MAX) || wide < static_cast<__int128>(INT64_MIN);
  if (is_bad || too_wide) {
    error(expr.span, !is_bad   ? "the result of this constant expression does not fit 64 bits"
                     : divides ? "division by zero"
                               : fmt::format("a shift goes by 0 to 63 bits, found {}", b));
    return;
  }
  if (info(*node.left).is_cast || info(*node.right).is_cast)
    return set_typed_constant(result, static_cast<int64_t>(wide), arithmetic_type(expr, node));
  set_constant(result, static_cast<int64_t>(wide), wide >= 0);
}

// target op= value: integers, and pointers that move.
bool OperatorTypes::check_compound(const Stmt& stmt, const Assign& assign, const Type& have) {
  Type value = readable(info(*assign.value).type);
  if (is(have, Kind::Unknown) || is(value, Kind::Unknown)) return true;
  bool moves =
      is(have, Kind::Pointer) && (assign.op == BinaryOp::Add || assign.op == BinaryOp::Subtract);
  if (is_integer(value) && (is_integer(have) || moves)) return true;
  error(stmt.span, fmt::format("'{}=' cannot join '{}' and '{}'", operator_text(assign.op),
                               type_name(have), type_name(value)));
  return false;
}

void OperatorTypes::infer_pointer_arithmetic(const Expr& expr, const Binary& node, const Type& left,
                                             const Type& right, ExprInfo& result) {
  bool is_sum = node.op == BinaryOp::Add, is_difference = node.op == BinaryOp::Subtract;
  if (is(left, Kind::Pointer) && is_integer(right) && (is_sum || is_difference))
    result.type = left;
  else if (is_integer(left) && is(right, Kind::Pointer) && is_sum)
    result.type = right;
  else if (is(left, Kind::Pointer) && is(right, Kind::Pointer) && is_difference)
    result.type = int_type(8, true);
  else if (node.op == BinaryOp::BitAnd || node.op == BinaryOp::ShiftRight)
    result.type = int_type(8, false);
  else
    error(expr.span, fmt::format("'{}' cannot join '{}' and '{}'", operator_text(node.op),
                                 type_name(left), type_name(right)));
}

void OperatorTypes::infer_comparison(const Expr& expr, const Binary& node, const Type& left,
                                     const Type& right, ExprInfo& result) {
  result.type = bool_type();
  bool is_equality = node.op == BinaryOp::Equal || node.op == BinaryOp::NotEqual;
  const ExprInfo &l = info(*node.left), &r = info(*node.right);
  if (is_scalar(left) && is_scalar(right)) {
    if (!is_equality) warn_about_sign(expr, node);
    if (l.value && r.value) {
      bool as_unsigned = l.is_literal && r.is_literal;
      int64_t a = *l.value, b = *r.value;
      auto less = [&](int64_t x, int64_t y) {
        return as_unsigned ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
      };
      switch (node.op) {
        case BinaryOp::Equal: result.value = a == b; break;
        case BinaryOp::NotEqual: result.value = a != b; break;
        case BinaryOp::Less: result.value = less(a, b); break;
        case BinaryOp::Greater: result.value = less(b, a); break;
        case BinaryOp::LessEqual: result.value = !less(b, a); break;
        default: result.value = !less(a, b); break;
      }
    }
    return;
  }
  if (is(left, Kind::String) && is(right, Kind::String)) {
    if (l.text && r.text) {
      int order = l.text->compare(*r.text);
      bool holds = node.op == BinaryOp::Equal       ? order == 0
                   : node.op == BinaryOp::NotEqual  ? order != 0
                   : node.op == BinaryOp::Less      ? order < 0
                   : node.op == BinaryOp::Greater   ? order > 0
                   : node.op == BinaryOp::LessEqual ? order <= 0
                                                    : order >= 0;
      result.value = holds;
      return;
    }
    if (!is_equality)
      error(expr.span, fmt::format("strings can be compared with '==' and '!=' only, found '{}'",
                                   operator_text(node.op)));
    return;
  }
  bool same_shape = unify({left}, {right}).has_value() &&
                    (is(left, Kind::Tuple) || is(left, Kind::Record) || is(left, Kind::Array) ||
                     is(left, Kind::Inet) || is(left, Kind::Mac));
  if (same_shape && is_equality) return;
  error(expr.span, fmt::format("'{}' cannot compare '{}' with '{}'", operator_text(node.op),
                               type_name(left), type_name(right)));
}

}  // namespace flowtap
