// Inference over expressions; see infer.h.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "lang/expand.h"
#include "sema/infer.h"
#include "types/array_size.h"

namespace flowtap {

const Type& Inferrer::infer(const Expr& expr) {
  uint32_t outer = std::exchange(current_, expr.id);
  expressions_ += rounds_;
  infer_node(expr, info(expr));
  current_ = outer;
  return info(expr).type;
}

Type Inferrer::infer_value(const Expr& expr) { return readable(infer(expr)); }

void Inferrer::set_constant(ExprInfo& result, int64_t value, bool is_unsigned) {
  result.value = value;
  result.is_literal = value >= 0 || is_unsigned;
  bool fits_signed = value >= 0;
  result.type = fits_signed || is_unsigned ? literal_type(static_cast<uint64_t>(value))
                                           : negative_literal_type(value);
}

void Inferrer::infer_node(const Expr& expr, ExprInfo& result) {
  std::visit(Overloaded{
                 [&](const IntegerLiteral& n) {
                   set_constant(result, static_cast<int64_t>(n.value), true);
                 },
                 [&](const StringLiteral& n) {
                   result.type = string_type(static_cast<uint32_t>(n.value.size() + 1));
                   result.text = n.value;
                   check_text_length(expr, n.value);
                 },
                 [&](const BoolLiteral& n) {
                   result.type = bool_type();
                   result.value = n.value;
                 },
                 [&](const Identifier& n) { infer_identifier(expr, n, result); },
                 [&](const Variable&) {
                   if (result.variable >= 0) {
                     VariableInfo& used = program_.variables[static_cast<size_t>(result.variable)];
                     used.is_reached = true;
                     result.type = used.type;
                   }
                 },
                 [&](const MapAccess& n) {
                   MapInfo& map = use_map(expr, n.key != nullptr);
                   info(expr).type = map.value;
                 },
                 [&](const Unary& n) { infer_unary(expr, n, result); },
                 [&](const Binary& n) { infer_binary(expr, n, result); },
                 [&](const Ternary& n) { infer_ternary(expr, n, result); },
                 [&](const Increment& n) { infer_increment(expr, n, result); },
                 [&](const Cast& n) { infer_cast(expr, n, result); },
                 [&](const Member& n) { infer_member(expr, n, result); },
                 [&](const Index& n) { infer_index(expr, n, result); },
                 [&](const Call& n) { infer_call(expr, n, result); },
                 [&](const TupleExpr& n) {
                   std::vector<Type> types;
                   for (const ExprPtr& element : n.elements)
                     types.push_back(infer_element(*element));
                   if (are_elements(expr, types))
                     result.type = types.empty() ? none_type() : tuple_type(std::move(types));
                 },
                 [&](const RecordExpr& n) {
                   std::vector<Type> types;
                   for (const ExprPtr& element : n.elements)
                     types.push_back(infer_element(*element));
                   if (!are_elements(expr, types)) return;
                   std::vector<std::pair<std::string, Type>> fields;
                   for (size_t i = 0; i < types.size(); i++)
                     fields.emplace_back(n.names[i], types[i]);
                   result.type = record_type(std::move(fields));
                 },
                 [&](const Sizeof& n) { infer_sizeof(expr, n, result); },
                 [&](const Offsetof& n) { infer_offsetof(expr, n, result); },
                 [&](const BlockExpr& n) {
                   infer_block(n.block);
                   result.type =
                       n.block.result ? readable(info(*n.block.result).type) : none_type();
                 },
                 [&](const IfExpr& n) { infer_if_expr(expr, n, result); },
                 [&](const FnCall& n) { infer_fn_call(expr, n); },
                 [&](const Comptime& n) {
                   infer(*n.operand);
                   const ExprInfo& inner = info(*n.operand);
                   if (!inner.value && !inner.text && !is(inner.type, Kind::Unknown))
                     error(expr.span, "this is not known at compile time");
                   info(expr) = inner;
                 },
                 [&](const Typeof&) {
                   error(expr.span, "a type is only possible here as the argument of a macro");
                 },
                 [&](const Parameter&) {},
             },
             expr.node);
}

Type Inferrer::infer_element(const Expr& element) {
  Type type = infer_value(element);
  if (is(type, Kind::None))
    error(element.span, "this expression has no value");
  else if (is_aggregation(type))
    error(element.span, fmt::format("'{}' cannot be part of another value", type_name(type)));
  else
    return type;
  return unknown_type();
}

// How many values a tuple or record within others holds, as far as `most`.
static size_t values_in(const Type& type, size_t most) {
  if (!is(type, Kind::Tuple) && !is(type, Kind::Record)) return 1;
  size_t found = 0;
  for (const Field& field : type->fields)
    if (found < most) found += values_in(field.type, most - found);
  return found;
}

// Whether a tuple or record can be made of these.
bool Inferrer::are_elements(const Expr& expr, const std::vector<Type>& types) {
  constexpr size_t kMost = 4096;
  size_t values = 0;
  for (const Type& type : types) {
    if (is(type, Kind::Unknown)) return false;
    if (values <= kMost) values += values_in(type, kMost + 1);
  }
  if (values > kMost) error(expr.span, fmt::format("this holds more than {} values", kMost));
  return values <= kMost;
}

// Texts that only the compiler reads, such as formats, may be of any length.
void Inferrer::check_text_length(const Expr& expr, const std::string& text) {
  uint64_t most = program_.config.max_strlen;
  if (is_for_compiler_ || text.size() < most) return;
  error(expr.span,
        fmt::format("this string needs {} bytes, more than max_strlen = {}", text.size() + 1, most))
      .with_hint(fmt::format("raise it in the config block: config = {{ max_strlen = {} }}",
                             text.size() + 1));
}

void Inferrer::infer_identifier(const Expr& expr, const Identifier& node, ExprInfo& result) {
  if (const Builtin* builtin = find_builtin(node.name)) {
    if (!builtin->has(kValue)) {
      error(expr.span, fmt::format("'{}' is a function", node.name))
          .with_hint(fmt::format("call it: {}", builtin->usage));
      return;
    }
    return infer_builtin(expr, *builtin, {}, node.name, result);
  }
  if (std::optional<EnumConstant> constant = types_.find_enumerator(node.name)) {
    result.value = constant->value;
    if (is(constant->type, Kind::Enum))
      result.type = constant->type;
    else
      set_constant(result, constant->value, false);
    return;
  }
  std::vector<std::string> names;
  for (const Builtin& builtin : all_builtins()) names.emplace_back(builtin.name);
  Diagnostic& report = error(expr.span, fmt::format("'{}' is not known", node.name));
  if (auto near = nearest(node.name, names))
    report.with_hint(fmt::format("did you mean '{}'?", *near));
}

void Inferrer::infer_unary(const Expr& expr, const Unary& node, ExprInfo& result) {
  Type type = infer_value(*node.operand);
  bool counts = node.op == UnaryOp::Negate || node.op == UnaryOp::Complement;
  if (is(type, Kind::Unknown) && counts && assumes_numbers_) type = int_type(8, true);
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
      if (operand.value) {
        uint64_t raw = static_cast<uint64_t>(*operand.value);
        bool is_unsigned = !is_negate && !type->is_signed && !operand.is_literal;
        return set_constant(result, static_cast<int64_t>(is_negate ? 0 - raw : ~raw), is_unsigned);
      }
      result.type = int_type(8, is_negate || type->is_signed);
      return;
    }
    case UnaryOp::Dereference:
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
      result.type = field_type({.name = {}, .type = type->element}, type->space);
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

static const char* operator_text(BinaryOp op) {
  static constexpr const char* kTexts[] = {"||", "&&", "|",  "^",  "&", "==", "!=", "<", ">",
                                           "<=", ">=", "<<", ">>", "+", "-",  "*",  "/", "%"};
  return kTexts[static_cast<size_t>(op)];
}

static bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual;
}

// `has_field(...) && x`: what the machine's answer rules out is not looked at.
bool Inferrer::is_decided(const Binary& node, ExprInfo& result) {
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
Type Inferrer::assumed_number(const Binary& node, const Type& left, const Type& right) {
  const Type& known = is(left, Kind::Unknown) ? right : left;
  if (!is_integer(known)) return unknown_type();
  const Expr& side = is(left, Kind::Unknown) ? *node.right : *node.left;
  return int_type(8, node.op == BinaryOp::Subtract || known->is_signed || info(side).is_literal);
}

void Inferrer::infer_binary(const Expr& expr, const Binary& node, ExprInfo& result) {
  Type left = infer_value(*node.left);
  if (is_decided(node, result)) return;
  Type right = infer_value(*node.right);
  if (is(left, Kind::Unknown) || is(right, Kind::Unknown)) {
    if (is_comparison(node.op) || node.op <= BinaryOp::And)
      result.type = bool_type();
    else if (assumes_numbers_)
      result.type = assumed_number(node, left, right);
    return;
  }
  if (node.op == BinaryOp::Or || node.op == BinaryOp::And) {
    check_condition(*node.left);
    check_condition(*node.right);
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
bool Inferrer::is_never_negative(const Expr& expr) {
  int variable = info(expr).variable;
  return std::holds_alternative<Variable>(expr.node) && variable >= 0 &&
         program_.variables[static_cast<size_t>(variable)].only_literals;
}

void Inferrer::warn_about_sign(const Expr& expr, const Binary& node) {
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
Type Inferrer::arithmetic_type(const Expr& expr, const Binary& node) {
  Meeting l = meeting(*node.left), r = meeting(*node.right);
  if (node.op == BinaryOp::Subtract) return int_type(8, true);
  if (node.op == BinaryOp::ShiftLeft || node.op == BinaryOp::ShiftRight)
    return int_type(8, l.type->is_signed && !l.is_literal);
  bool l_signed = l.type->is_signed && !l.is_literal, r_signed = r.type->is_signed && !r.is_literal;
  if (node.op != BinaryOp::BitAnd) warn_about_sign(expr, node);
  if (l.is_literal && r.is_literal) return int_type(8, true);
  return int_type(8, l_signed || r_signed);
}

void Inferrer::fold_binary(const Expr& expr, const Binary& node, ExprInfo& result) {
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
  set_constant(result, static_cast<int64_t>(wide), wide >= 0);
}

// target op= value: integers, and pointers that move.
bool Inferrer::check_compound(const Stmt& stmt, const Assign& assign, const Type& have) {
  Type value = readable(info(*assign.value).type);
  if (is(have, Kind::Unknown) || is(value, Kind::Unknown)) return true;
  bool moves =
      is(have, Kind::Pointer) && (assign.op == BinaryOp::Add || assign.op == BinaryOp::Subtract);
  if (is_integer(value) && (is_integer(have) || moves)) return true;
  error(stmt.span, fmt::format("'{}=' cannot join '{}' and '{}'", operator_text(assign.op),
                               type_name(have), type_name(value)));
  return false;
}

void Inferrer::infer_pointer_arithmetic(const Expr& expr, const Binary& node, const Type& left,
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

void Inferrer::infer_comparison(const Expr& expr, const Binary& node, const Type& left,
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

void Inferrer::infer_ternary(const Expr& expr, const Ternary& node, ExprInfo& result) {
  infer_condition(*node.condition);
  const Expr& then = node.then ? *node.then : *node.condition;
  std::optional<int64_t> known = info(*node.condition).value;
  bool is_question = info(*node.condition).is_question;
  if (node.then && (!is_question || *known)) infer(then);
  if (!is_question || !*known) infer(*node.otherwise);
  if (known) {
    const ExprInfo chosen = info(*known ? then : *node.otherwise);
    info(expr).type = readable(chosen.type);
    info(expr).value = chosen.value;
    info(expr).is_literal = chosen.is_literal;
    info(expr).text = chosen.text;
    return;
  }
  std::optional<Type> both = unify(meeting(then), meeting(*node.otherwise));
  if (both)
    result.type = *both;
  else
    error(expr.span,
          fmt::format("both sides of '?:' must have the same type, found '{}' and '{}'",
                      type_name(meeting(then).type), type_name(meeting(*node.otherwise).type)));
}

void Inferrer::infer_if_expr(const Expr& expr, const IfExpr& node, ExprInfo& result) {
  infer_branches(*node.condition, node.then, node.otherwise, node.is_comptime);
  bool is_comptime = node.is_comptime || info(*node.condition).is_question;
  std::optional<int64_t> known = is_comptime ? info(*node.condition).value : std::nullopt;
  const Block& first = known && !*known ? node.otherwise : node.then;
  if (!first.result || (!known && !node.otherwise.result)) {
    result.type = none_type();
    return;
  }
  if (known) {
    result.type = readable(info(*first.result).type);
    return;
  }
  std::optional<Type> both = unify(meeting(*node.then.result), meeting(*node.otherwise.result));
  if (both)
    result.type = *both;
  else
    error(expr.span, fmt::format("both branches must have the same type, found '{}' and '{}'",
                                 type_name(info(*node.then.result).type),
                                 type_name(info(*node.otherwise.result).type)));
}

void Inferrer::infer_increment(const Expr& expr, const Increment& node, ExprInfo& result) {
  const char* word = node.delta > 0 ? "++" : "--";
  if (std::holds_alternative<Variable>(node.target->node)) {
    int variable = info(*node.target).variable;
    if (variable < 0) return;
    VariableInfo& declared = program_.variables[static_cast<size_t>(variable)];
    declared.is_reached = true;
    Type have = declared.type;
    if (is_integer(have) && declared.has_declared_type)
      assign_variable_type(variable, {have}, expr.span);  // wraps, as its type says
    else if (is_integer(have))
      assign_variable_type(variable, {int_type(8, have->is_signed || node.delta < 0)}, expr.span);
    else if (!is(have, Kind::Pointer) && !is(have, Kind::Unknown))
      error(expr.span,
            fmt::format("'{}' takes an integer or a pointer, found '{}'", word, type_name(have)));
    info(*node.target).type = result.type = program_.variables[static_cast<size_t>(variable)].type;
    return;
  }
  auto* access = std::get_if<MapAccess>(&node.target->node);
  if (!access) {
    error(expr.span, fmt::format("'{}' takes a variable or a map", word));
    return;
  }
  MapInfo& map = use_map(*node.target, access->key != nullptr);
  bool is_unsigned = is(map.value, Kind::Int) && !map.value->is_signed && node.delta > 0;
  if (!is(map.value, Kind::Pointer)) assign_map_type(map, {int_type(8, !is_unsigned)}, expr.span);
  info(*node.target).type = map.value;
  info(expr).type = map.value;
}

AddressSpace Inferrer::default_space() const {
  const ProbeRow& row = probe_row(instance_->kind);
  if (row.has(kUserSpace)) return AddressSpace::User;
  bool has_none = row.has(kRunByFlowtap) || row.program == ProgramType::PerfEvent;
  return has_none ? AddressSpace::None : AddressSpace::Kernel;
}

std::string Inferrer::traced_program() const {
  bool has_program = probe_row(instance_->kind).has(kUserSpace) && !instance_->attach.empty();
  return has_program ? instance_->attach[0].target : "";
}

void Inferrer::report_unknown_type(const TypeSpec& spec) {
  Diagnostic& report = error(spec.span, fmt::format("there is no type '{}'", spec.name));
  std::string program = traced_program();
  for (const char* keyword : {"struct ", "union ", "enum "})
    if (types_.find_type(keyword + spec.name, program))
      return (void)report.with_hint(fmt::format("did you mean '{}{}'?", keyword, spec.name));
  if (!program.empty()) {
    if (Result<Type> found = target_.user_type(program, spec.name); !found.ok())
      report.with_hint(found.error().message() + ": define it in the script");
  } else if (!target_.has(Feature::Btf)) {
    report.with_hint("this kernel has no BTF to look it up in: define it in the script");
  }
}

Type Inferrer::resolve_type(const TypeSpec& spec) {
  Type type;
  if (spec.of) {
    type = infer_value(*spec.of);
  } else {
    type = types_.find_type(spec.name, traced_program());
    if (!type) {
      report_unknown_type(spec);
      return unknown_type();
    }
  }
  for (size_t i = 0; i < spec.suffixes.size(); i++) {
    const TypeSpec::Suffix& suffix = spec.suffixes[i];
    bool sets_size = i == 0 && !suffix.is_pointer && suffix.count > 0;
    bool counts_bytes = sets_size && (is(type, Kind::String) || is(type, Kind::Buffer));
    if (!suffix.is_pointer && suffix.count > 0 &&
        !can_repeat(counts_bytes ? int_type(1, false) : type,
                    static_cast<uint64_t>(suffix.count))) {
      error(spec.span, fmt::format("this is too large: a type has at most {} bytes", kMaxTypeSize));
      return unknown_type();
    }
    if (suffix.is_pointer)
      type = pointer_type(type, default_space());
    else if (sets_size && is(type, Kind::String))
      type = string_type(static_cast<uint32_t>(suffix.count));
    else if (sets_size && is(type, Kind::Buffer))
      type = buffer_type(static_cast<uint32_t>(suffix.count));
    else if (sets_size && is(type, Kind::Inet))
      continue;
    else
      type = array_type(type, suffix.count < 0 ? 0 : static_cast<uint32_t>(suffix.count));
  }
  return type;
}

void Inferrer::check_enum_cast(const Expr& expr, const Type& to, const ExprInfo& operand) {
  if (!is(to, Kind::Enum) || !operand.value || !operand.is_literal || !to->enumerators) return;
  auto has_value = [&](const Enumerator& e) { return e.value == *operand.value; };
  if (std::any_of(to->enumerators->begin(), to->enumerators->end(), has_value)) return;
  error(expr.span,
        fmt::format("'{}' has no enumerator with the value {}", to->name, *operand.value));
}

void Inferrer::infer_cast(const Expr& expr, const Cast& node, ExprInfo& result) {
  Type from = infer_value(*node.operand);
  Type to = resolve_type(node.type);
  if (is(to, Kind::Unknown) || is(from, Kind::Unknown)) {
    result.type = to;
    return;
  }
  const ExprInfo& operand = info(*node.operand);
  if (is(to, Kind::Array) && to->count == 0 && to->element->size)
    to = array_type(to->element,
                    std::max(1u, (is_integer(from) && operand.is_literal ? 8 : from->size) /
                                     to->element->size));
  if (is(to, Kind::Pointer) && is(from, Kind::Pointer)) to = pointer_type(to->element, from->space);
  result.type = to;
  bool is_needless = same_type(to, operand.type) && !operand.value && !node.type.of;
  if (is_needless && !is_expanded(ast_, program_.origins[expr.id]))
    warning(expr.span,
            fmt::format("this cast has no effect: the value has type '{}' already", type_name(to)));
  if (is_integer(to) && is_scalar(from)) {
    check_enum_cast(expr, to, operand);
    if (operand.value) {
      result.value = operand.value;
      if (to->size < 8) {
        int shift = 64 - static_cast<int>(to->size) * 8;
        uint64_t high = static_cast<uint64_t>(*operand.value) << shift;
        result.value = to->is_signed ? static_cast<int64_t>(high) >> shift
                                     : static_cast<int64_t>(high >> shift);
      }
    }
    return;
  }
  if (is(to, Kind::Pointer) && is_scalar(from)) {
    result.value = operand.value;
    return;
  }
  bool int_and_array = (is(to, Kind::Array) && is_integer(to->element) &&
                        (is_integer(from) || is(from, Kind::Array) || is(from, Kind::String))) ||
                       (is_integer(to) && is(from, Kind::Array) && is_integer(from->element));
  bool sizes_agree = is(to, Kind::Array)
                         ? (operand.value || is(from, Kind::String) || from->size == to->size)
                         : from->size <= 8 && from->size == to->size;
  bool resizes_text = (is(to, Kind::String) && is(from, Kind::String)) ||
                      (is(to, Kind::Buffer) && is(from, Kind::Buffer));
  if ((int_and_array && sizes_agree) || resizes_text || same_type(to, from)) return;
  error(expr.span, fmt::format("'{}' cannot be cast to '{}'", type_name(from), type_name(to)));
}

}  // namespace flowtap
