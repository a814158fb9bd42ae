// Inference over expressions; see infer_expr.h.

#include "sema/infer_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/overloaded.h"
#include "base/text.h"
#include "builtins/kernel_constants.h"
#include "lang/expand.h"
#include "sema/infer_statements.h"

namespace flowtap {

// How many values a tuple or record within others holds, as far as `most`.
static size_t values_in(const Type& type, size_t most) {
  if (!is(type, Kind::Tuple) && !is(type, Kind::Record)) return 1;
  size_t found = 0;
  for (const Field& field : type->fields)
    if (found < most) found += values_in(field.type, most - found);
  return found;
}

void ExpressionTypes::infer_condition(const Expr& condition) {
  infer(condition);
  uses_.arguments.check_condition(condition);
}

const Type& ExpressionTypes::infer(const Expr& expr) {
  uint32_t outer = std::exchange(walk_.current, expr.id);
  walk_.expressions += walk_.rounds;
  infer_node(expr, info(expr));
  walk_.current = outer;
  return info(expr).type;
}

Type ExpressionTypes::infer_value(const Expr& expr) { return readable(infer(expr)); }

void ExpressionTypes::infer_node(const Expr& expr, ExprInfo& result) {
  std::visit(Overloaded{
                 [&](const IntegerLiteral& n) {
                   set_constant(result, static_cast<int64_t>(n.value), true);
                 },
                 [&](const StringLiteral& n) {
                   result.text = n.value.substr(0, n.value.find('\0'));
                   result.type = string_type(static_cast<uint32_t>(result.text->size() + 1));
                   check_text_length(expr, n.value);
                 },
                 [&](const BoolLiteral& n) {
                   result.type = bool_type();
                   result.value = n.value;
                 },
                 [&](const Identifier& n) { infer_identifier(expr, n, result); },
                 [&](const Variable&) {
                   if (result.variable.is_set()) {
                     VariableInfo& used = program_.variables[result.variable];
                     used.is_reached = used.is_read = true;
                     result.type = used.type;
                   }
                 },
                 [&](const MapAccess& n) {
                   MapInfo& map = uses_.stores.use_map(expr, n.key != nullptr);
                   info(expr).type = map.value;
                 },
                 [&](const Unary& n) { uses_.operators.infer_unary(expr, n, result); },
                 [&](const Binary& n) { uses_.operators.infer_binary(expr, n, result); },
                 [&](const Ternary& n) { infer_ternary(expr, n, result); },
                 [&](const Increment& n) { infer_increment(expr, n, result); },
                 [&](const Cast& n) { infer_cast(expr, n, result); },
                 [&](const Member& n) { uses_.fields.infer_member(expr, n, result); },
                 [&](const Index& n) { uses_.fields.infer_index(expr, n, result); },
                 [&](const Call& n) { uses_.calls.infer_call(expr, n, result); },
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
                 [&](const Sizeof& n) { uses_.fields.infer_sizeof(expr, n, result); },
                 [&](const Offsetof& n) { uses_.fields.infer_offsetof(expr, n, result); },
                 [&](const BlockExpr& n) {
                   uses_.blocks.infer_block(n.block);
                   result.type =
                       n.block.result ? readable(info(*n.block.result).type) : none_type();
                 },
                 [&](const IfExpr& n) { infer_if_expr(expr, n, result); },
                 [&](const FnCall& n) { uses_.functions.infer_fn_call(expr, n); },
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

Type ExpressionTypes::infer_element(const Expr& element) {
  Type type = infer_value(element);
  if (is(type, Kind::None))
    error(element.span, "this expression has no value");
  else if (is_aggregation(type))
    error(element.span, fmt::format("'{}' cannot be part of another value", type_name(type)));
  else
    return type;
  return unknown_type();
}

// Whether a tuple or record can be made of these.
bool ExpressionTypes::are_elements(const Expr& expr, const std::vector<Type>& types) {
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
void ExpressionTypes::check_text_length(const Expr& expr, const std::string& text) {
  uint64_t most = program_.config.max_strlen;
  if (place_.is_for_compiler || text.size() < most) return;
  error(expr.span,
        fmt::format("this string needs {} bytes, more than max_strlen = {}", text.size() + 1, most))
      .with_hint(fmt::format("raise it in the config block: config = {{ max_strlen = {} }}",
                             text.size() + 1));
}

void ExpressionTypes::infer_identifier(const Expr& expr, const Identifier& node, ExprInfo& result) {
  if (const Builtin* builtin = find_builtin(node.name)) {
    if (!builtin->has(kValue)) {
      error(expr.span, fmt::format("'{}' is a function", node.name))
          .with_hint(fmt::format("call it: {}", builtin->usage));
      return;
    }
    return uses_.calls.infer_builtin(expr, *builtin, {}, node.name, result);
  }
  if (std::optional<EnumConstant> constant = types().find_enumerator(node.name)) {
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
  bool is_macro = std::none_of(node.name.begin(), node.name.end(),
                               [](unsigned char c) { return std::islower(c); });
  if (std::string_view successor = successor_of(node.name); !successor.empty())
    report.with_hint(fmt::format("since Linux 4.8 it is {}", successor));
  else if (auto near = nearest(node.name, names))
    report.with_hint(fmt::format("did you mean '{}'?", *near));
  else if (is_macro)
    report.with_hint(fmt::format(
        "the kernel's BTF has enumerators but no macros: write its value, or #define {}",
        node.name));
}

void ExpressionTypes::infer_ternary(const Expr& expr, const Ternary& node, ExprInfo& result) {
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
    info(expr).is_cast = chosen.is_cast;
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

void ExpressionTypes::infer_if_expr(const Expr& expr, const IfExpr& node, ExprInfo& result) {
  uses_.blocks.infer_branches(*node.condition, node.then, node.otherwise, node.is_comptime);
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

void ExpressionTypes::infer_increment(const Expr& expr, const Increment& node, ExprInfo& result) {
  const char* word = node.delta > 0 ? "++" : "--";
  if (std::holds_alternative<Variable>(node.target->node)) {
    VariableId variable = info(*node.target).variable;
    if (!variable.is_set()) return;
    VariableInfo& declared = program_.variables[variable];
    declared.is_reached = true;
    Type have = declared.type;
    if (is_integer(have) && declared.has_declared_type)
      uses_.stores.assign_variable_type(variable, {have}, expr.span);  // wraps, as its type says
    else if (is_integer(have))
      uses_.stores.assign_variable_type(variable, {int_type(8, have->is_signed || node.delta < 0)},
                                        expr.span);
    else if (!is(have, Kind::Pointer) && !is(have, Kind::Unknown))
      error(expr.span,
            fmt::format("'{}' takes an integer or a pointer, found '{}'", word, type_name(have)));
    info(*node.target).type = result.type = program_.variables[variable].type;
    return;
  }
  auto* access = std::get_if<MapAccess>(&node.target->node);
  if (!access) {
    error(expr.span, fmt::format("'{}' takes a variable or a map", word));
    return;
  }
  MapInfo& map = uses_.stores.use_map(*node.target, access->key != nullptr);
  bool is_unsigned = is(map.value, Kind::Int) && !map.value->is_signed && node.delta > 0;
  if (!is(map.value, Kind::Pointer))
    uses_.stores.assign_map_type(map, {int_type(8, !is_unsigned)}, expr.span);
  info(*node.target).type = map.value;
  info(expr).type = map.value;
}

void ExpressionTypes::check_enum_cast(const Expr& expr, const Type& to, const ExprInfo& operand) {
  if (!is(to, Kind::Enum) || !operand.value || !operand.is_literal || !to->enumerators) return;
  auto has_value = [&](const Enumerator& e) { return e.value == *operand.value; };
  if (std::any_of(to->enumerators->begin(), to->enumerators->end(), has_value)) return;
  error(expr.span,
        fmt::format("'{}' has no enumerator with the value {}", to->name, *operand.value));
}

// Does it lie where a pointer led to, and not in a copy of ours?
bool ExpressionTypes::has_address(const Expr& expr) {
  const ExprPtr* base = nullptr;
  if (auto* n = std::get_if<Member>(&expr.node)) base = &n->base;
  if (auto* n = std::get_if<Index>(&expr.node)) base = &n->base;
  if (!base) {
    auto* n = std::get_if<Unary>(&expr.node);
    return n && n->op == UnaryOp::Dereference;
  }
  const Type& type = info(**base).type;
  return is(type, Kind::Pointer) ? type->space != AddressSpace::Context : has_address(**base);
}

void ExpressionTypes::infer_cast(const Expr& expr, const Cast& node, ExprInfo& result) {
  Type from = infer_value(*node.operand);
  Type to = uses_.types.resolve_type(node.type);
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
  if (is_needless && !is_expanded(input_.ast, program_.origins[expr.id]))
    warning(expr.span,
            fmt::format("this cast has no effect: the value has type '{}' already", type_name(to)));
  if (is_integer(to) && is_scalar(from)) {
    check_enum_cast(expr, to, operand);
    if (operand.value) set_typed_constant(result, *operand.value, to);
    return;
  }
  if (is(to, Kind::Pointer) && is_scalar(from)) {
    result.value = operand.value;
    return;
  }
  if (is(to, Kind::Struct) && place_.is_unevaluated) return;
  bool is_array = is(from, Kind::Array) || (is(from, Kind::String) && from->is_char_array);
  if (is(to, Kind::Pointer) && is_array && has_address(*node.operand)) {
    AddressSpace space = from->space == AddressSpace::None ? AddressSpace::Kernel : from->space;
    result.type = pointer_type(to->element, space);
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
