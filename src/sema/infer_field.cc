// Inference over what is inside of a value: fields, elements, sizes and offsets; see infer_field.h.

#include "sema/infer_field.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace flowtap {

// config.name: a constant.
bool FieldTypes::infer_setting(const Expr& expr, const Member& node, ExprInfo& result) {
  const Identifier* word = std::get_if<Identifier>(&node.base->node);
  const Builtin* builtin = word ? find_builtin(word->name) : nullptr;
  if (!builtin || builtin->id != Fn::Config) return false;
  std::optional<ConfigValue> value = config_value(program_.config, node.name);
  if (!value) {
    Diagnostic& report = error(expr.span, fmt::format("'{}' is not a setting", node.name));
    if (auto near = nearest(node.name, config_keys()))
      report.with_hint(fmt::format("did you mean 'config.{}'?", *near));
  } else if (!value->number) {
    result.text = value->text;
    result.type = string_type(static_cast<uint32_t>(value->text.size() + 1));
  } else if (value->is_bool) {
    result.value = value->number;
    result.type = bool_type();
  } else {
    set_constant(result, *value->number, true);
  }
  return true;
}

// typeinfo(x).base_ty: a constant too.
bool FieldTypes::infer_type_field(const Member& node, ExprInfo& result) {
  const Call* call = std::get_if<Call>(&node.base->node);
  if (!call || call->name != "typeinfo") return false;
  const Type& type = info(*call->args[0]).type;
  bool is_base = node.name == "base_ty", is_text = is_base || node.name == "full_ty";
  if (!is_text || is(type, Kind::Unknown)) return false;
  result.text = is_base ? type_family(type) : type_name(type);
  result.type = string_type(static_cast<uint32_t>(result.text->size() + 1));
  return true;
}

void FieldTypes::infer_member(const Expr& expr, const Member& node, ExprInfo& result) {
  if (infer_setting(expr, node, result)) return;
  Type base = expressions_.infer_value(*node.base);
  if (infer_type_field(node, result)) return;
  if (is(base, Kind::Unknown)) return;
  AddressSpace space = base->space;
  if (is(base, Kind::Pointer)) base = base->element;
  if (is(base, Kind::Struct)) base = types().complete(base);
  bool has_fields = is(base, Kind::Struct) || is(base, Kind::Tuple) || is(base, Kind::Record);
  if (std::holds_alternative<IntegerLiteral>(node.base->node)) {
    error(expr.span, "numbers have no fraction here");
    return;
  }
  if (!has_fields) {
    error(expr.span, fmt::format("'{}' has no field '{}'", type_name(base), node.name));
    return;
  }
  if (const Field* field = find_field(base, node.name)) {
    result.type = field->is_data_loc       ? pointer_type(field->type, AddressSpace::Kernel)
                  : is(base, Kind::Struct) ? types_.field_type(*field, space)
                                           : field->type;
    return;
  }
  bool is_args = info(*node.base).builtin && info(*node.base).builtin->id == Fn::Args;
  std::vector<std::string> names;
  for (const Field& field : base->fields) names.push_back(field.name);
  std::string owner =
      is_args ? place_.instance->attach[0].name : fmt::format("'{}'", type_name(base));
  if (is(base, Kind::Tuple)) {
    error(expr.span, fmt::format("this tuple has {} and no element {}",
                                 counted(names.size(), "element"), node.name));
    return;
  }
  Diagnostic& report = error(expr.span, fmt::format("'{}{}' is not a field of {}",
                                                    is_args ? "args." : "", node.name, owner));
  if (auto near = nearest(node.name, names))
    report.with_hint(fmt::format("did you mean '{}{}'?", is_args ? "args." : "", *near));
  else if (is_args)
    report.with_hint(fmt::format("list the fields with: -lv {}", owner));
}

void FieldTypes::infer_index(const Expr& expr, const Index& node, ExprInfo& result) {
  Type base = expressions_.infer_value(*node.base);
  Type index = expressions_.infer_value(*node.index);
  if (is(base, Kind::Unknown) || is(index, Kind::Unknown)) return;
  std::optional<int64_t> constant = info(*node.index).value;
  if (!is_integer(index)) {
    error(node.index->span,
          fmt::format("an index must be an integer, found '{}'", type_name(index)));
    return;
  }
  uint32_t count = 0;
  if (is(base, Kind::Array)) {
    result.type = types_.field_type({.name = {}, .type = base->element}, base->space);
    count = base->count;
  } else if (is(base, Kind::Pointer)) {
    result.type = types_.field_type({.name = {}, .type = base->element}, base->space);
    return;
  } else if (is(base, Kind::String) || is(base, Kind::Buffer)) {
    result.type = int_type(1, is(base, Kind::String));
    count = is(base, Kind::String) ? base->size : base->size - 4;
  } else if (is(base, Kind::Tuple) && constant) {
    const Field* field = find_field(base, std::to_string(*constant));
    if (field)
      result.type = field->type;
    else
      error(expr.span, fmt::format("this tuple has {} and no element {}",
                                   counted(base->fields.size(), "element"), *constant));
    return;
  } else {
    error(expr.span, fmt::format("'[]' takes an array, a pointer, a string or a tuple, found '{}'",
                                 type_name(base)));
    return;
  }
  if (constant && (*constant < 0 || *constant >= static_cast<int64_t>(count)) && count > 0)
    error(expr.span, fmt::format("index {} is outside of '{}'", *constant, type_name(base)));
}

void FieldTypes::infer_sizeof(const Expr&, const Sizeof& node, ExprInfo& result) {
  bool outer = std::exchange(place_.is_unevaluated, true);
  Type type =
      node.operand ? expressions_.infer_value(*node.operand) : types_.resolve_type(node.type);
  place_.is_unevaluated = outer;
  if (!is(type, Kind::Unknown)) set_constant(result, type->size, true);
}

// has_field(): neither a missing type nor a missing field is a mistake.
void FieldTypes::infer_has_field(const Offsetof& node, ExprInfo& result) {
  bool is_known =
      node.operand || node.type.of || types().find_type(node.type.name, types_.traced_program());
  Type type = !is_known      ? nullptr
              : node.operand ? expressions_.infer_value(*node.operand)
                             : types_.resolve_type(node.type);
  bool found = is_known;
  for (const std::string& name : node.path) {
    if (!found) break;
    if (is(type, Kind::Unknown)) return;
    if (is(type, Kind::Pointer)) type = type->element;
    if (is(type, Kind::Struct)) type = types().complete(type);
    const Field* field = find_field(type, name);
    found = field != nullptr;
    if (field) type = field->type;
  }
  result.type = bool_type();
  result.value = found;
  result.is_question = true;
}

void FieldTypes::infer_offsetof(const Expr& expr, const Offsetof& node, ExprInfo& result) {
  if (node.only_asks) return infer_has_field(node, result);
  Type type =
      node.operand ? expressions_.infer_value(*node.operand) : types_.resolve_type(node.type);
  uint32_t offset = 0;
  for (const std::string& name : node.path) {
    if (is(type, Kind::Unknown)) return;
    if (is(type, Kind::Struct)) type = types().complete(type);
    const Field* field = find_field(type, name);
    if (!field) {
      error(expr.span, fmt::format("'{}' has no field '{}'", type_name(type), name));
      return;
    }
    offset += field->offset;
    type = field->type;
  }
  set_constant(result, offset, true);
}

}  // namespace flowtap
