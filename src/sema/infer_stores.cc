// What assignments do to the types of variables and maps: they widen, until they hold whatever is
// stored there; see infer_stores.h.

#include "sema/infer_stores.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/expand.h"

namespace flowtap {

static std::string integer_text(int64_t value, const Type& type) {
  return type->is_signed ? fmt::format("{}", value)
                         : fmt::format("{}", static_cast<uint64_t>(value));
}

// Does the constant fit an integer type without being cut?
static bool fits_in(int64_t value, bool is_huge, const Type& type) {
  if (is(type, Kind::Bool)) return value == 0 || value == 1;
  if (type->size >= 8) return type->is_signed ? !is_huge : is_huge || value >= 0;
  int bits = static_cast<int>(type->size) * 8;
  int64_t low = type->is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = (int64_t{1} << (type->is_signed ? bits - 1 : bits)) - 1;
  return !is_huge && value >= low && value <= high;
}

// Is what a declared type became when it met another still that type?
static bool is_still(const Type& declared, const Type& both) {
  if (is_integer(declared) || is(declared, Kind::String)) return same_type(both, declared);
  for (size_t i = 0; i < declared->fields.size() && is(declared, Kind::Tuple); i++)
    if (!is_still(declared->fields[i].type, both->fields[i].type)) return false;
  return true;
}

// A declared type never widens: constants must fit it, all else must be as narrow.
bool StoredTypes::can_hold(const Type& declared, const Expr& value) {
  const ExprInfo& from = info(value);
  if (is_integer(declared) && is(from.type, Kind::Int) && from.value)
    return fits_in(*from.value, from.is_literal && *from.value < 0, declared);
  const TupleExpr* tuple = std::get_if<TupleExpr>(&value.node);
  if (tuple && is(declared, Kind::Tuple) && tuple->elements.size() == declared->fields.size()) {
    for (size_t i = 0; i < tuple->elements.size(); i++)
      if (!can_hold(declared->fields[i].type, *tuple->elements[i])) return false;
    return true;
  }
  std::optional<Type> both = unify({declared}, meeting(value));
  return both && is_still(declared, *both);
}

// What the value is, for a message that it does not fit.
std::string StoredTypes::found_text(const ExprInfo& from) {
  bool is_constant = from.value && is_integer(from.type);
  return is_constant ? integer_text(*from.value, from.type)
                     : fmt::format("'{}'", type_name(from.type));
}

// A cast would help where only the size is wrong.
static void hint_at_cast(Diagnostic& report, const Type& declared, const Type& from) {
  bool can_be_cut = (is_integer(declared) && is_integer(from)) ||
                    (is(declared, Kind::String) && is(from, Kind::String));
  if (can_be_cut) report.with_hint("write a cast if the value may be cut");
}

void StoredTypes::assign_variable(VariableId variable, const Expr& value, Span span) {
  const ExprInfo& from = info(value);
  if (is_aggregation(from.type)) {
    Diagnostic& report = error(
        value.span,
        fmt::format("values of type '{}' cannot be kept in a variable", type_name(from.type)));
    if (is_integer(readable(from.type))) report.with_hint("read it with a cast, as in (int64)@x");
    return;
  }
  if (is(from.type, Kind::None)) {
    error(value.span, "this expression has no value");
    return;
  }
  VariableInfo& declared = program_.variables[variable];
  declared.is_assigned = declared.is_reached = true;
  if (declared.has_declared_type) {
    if (is(from.type, Kind::Unknown) || can_hold(declared.type, value)) return;
    Diagnostic& report =
        error(value.span,
              fmt::format("'${}' is declared as '{}' and cannot hold {}",
                          written_name(declared.name), type_name(declared.type), found_text(from)));
    hint_at_cast(report, declared.type, from.type);
    return;
  }
  if (follows_address(declared, value)) return;
  assign_variable_type(variable, meeting(value), span);
}

// `$p = &$x`: while the type of $x still widens, that of $p follows it.
bool StoredTypes::follows_address(VariableInfo& pointer, const Expr& value) {
  const Unary* unary = std::get_if<Unary>(&value.node);
  bool is_address = unary && unary->op == UnaryOp::AddressOf;
  const Type& type = info(value).type;
  if (walk_.is_last || !is_address || !is(pointer.type, Kind::Pointer)) return false;
  if (type->element->kind != pointer.type->element->kind) return false;
  walk_.changed |= !same_type(pointer.type, type);
  walk_.has_more_to_say = true;
  pointer.type = type;
  return true;
}

// A string that is added to in every round would grow without end: it gets all there is.
Type StoredTypes::settled(const Type& type) {
  constexpr int kManyWalks = 8;
  if (walk_.number < kManyWalks || !is(type, Kind::String)) return type;
  return string_type(std::max(type->size, static_cast<uint32_t>(program_.config.max_strlen)));
}

void StoredTypes::assign_variable_type(VariableId variable, const Meeting& value, Span span) {
  VariableInfo& declared = program_.variables[variable];
  declared.is_assigned = declared.is_reached = true;
  if (is(value.type, Kind::Unknown)) return;
  std::optional<Type> both = unify({declared.type, declared.only_literals}, value);
  if (!both) {
    error(span, fmt::format("'${}' holds '{}' and cannot take '{}'", written_name(declared.name),
                            type_name(declared.type), type_name(value.type)))
        .with_note(declared.span, "first used here");
    return;
  }
  bool has_grown = !same_type(*both, declared.type);
  walk_.changed |= has_grown || (declared.only_literals && !value.is_literal);
  declared.type = has_grown ? settled(*both) : *both;
  declared.only_literals &= value.is_literal;
}

// Where a map is first named: what a message about its types refers to.
Diagnostic& StoredTypes::note_map(Diagnostic& report, const MapInfo& map) {
  bool is_typed = map.declared_key || map.declared_value;
  return is_typed ? report.with_note(map.decl->span, "it is declared here")
                  : report.with_note(map.span, "first used here");
}

// A declared pointer is one into the memory that the first one stored points into.
void StoredTypes::follow_spaces(Type& type, const Type& declared, const Type& found) {
  Type followed = with_spaces_of(declared, found);
  walk_.changed |= !same_type(type, followed);
  type = followed;
}

void StoredTypes::assign_map(MapInfo& map, const Expr& value, bool is_direct) {
  const Type& type = info(value).type;
  Meeting found = is_direct ? Meeting{type} : meeting(value);
  if (!map.declared_value) return assign_map_type(map, found, value.span);
  if (is(type, Kind::Unknown)) return;
  if (!is_aggregation(found.type) && can_hold(map.declared_value, value))
    return follow_spaces(map.value, map.declared_value, found.type);
  Diagnostic& report = error(
      value.span, fmt::format("'{}' is declared with values of type '{}' and cannot hold {}",
                              map.name, type_name(map.declared_value), found_text(info(value))));
  note_map(report, map);
  if (is_aggregation(found.type))
    report.with_hint("leave out the type of its values: the function gives it");
  else
    hint_at_cast(report, map.declared_value, found.type);
}

void StoredTypes::assign_map_type(MapInfo& map, const Meeting& value, Span span) {
  bool is_fixed = map.declared_value != nullptr;  // it wraps, as its type says
  if (is(value.type, Kind::Unknown) || is_fixed) return;
  std::optional<Type> both = unify({map.value, map.only_literals}, value);
  if (!both) {
    bool same_kind = map.value->kind == value.type->kind && is_aggregation(value.type);
    error(span, same_kind ? fmt::format("map '{}' holds a '{}' with other parameters", map.name,
                                        type_name(map.value))
                          : fmt::format("map '{}' holds '{}' and cannot take '{}'", map.name,
                                        type_name(map.value), type_name(value.type)))
        .with_note(map.span, "first used here");
    return;
  }
  bool has_grown = !same_type(*both, map.value);
  walk_.changed |= has_grown || (map.only_literals && !value.is_literal);
  map.value = has_grown ? settled(*both) : *both;
  map.only_literals &= value.is_literal;
}

MapInfo& StoredTypes::reach_map(const Expr& access) {
  MapInfo& map = program_.maps[info(access).map];
  map.is_reached |= !place_.instance->is_uncalled;
  return map;
}

MapInfo& StoredTypes::use_map(const Expr& access, bool has_key) {
  MapInfo& map = reach_map(access);
  const ExprPtr& key = std::get<MapAccess>(access.node).key;
  if (!map.is_scalar) {
    map.is_scalar = !has_key;
    walk_.changed = true;
  } else if (*map.is_scalar == has_key) {
    note_map(error(access.span,
                   has_key ? fmt::format("'{}' has no keys, but is used with one here", map.name)
                           : fmt::format("'{}' has keys, but is used without one here", map.name)),
             map);
    return map;
  }
  if (key) {
    expressions_.infer(*key);
    use_key(map, *key);
  }
  return map;
}

void StoredTypes::use_key(MapInfo& map, const Expr& key) {
  Type type = readable(info(key).type);
  if (is(type, Kind::Unknown)) return;
  if (is(type, Kind::None) || is_aggregation(type)) {
    error(key.span, fmt::format("'{}' cannot be the type of a key", type_name(type)));
    return;
  }
  if (map.declared_key) return use_declared_key(map, key);
  std::optional<Type> both = unify({map.key, map.key_only_literals}, meeting(key));
  if (!both) {
    error(key.span, fmt::format("the keys of '{}' are '{}', found '{}'", map.name,
                                type_name(map.key), type_name(type)))
        .with_note(map.span, "first used here");
    return;
  }
  walk_.changed |= !same_type(*both, map.key) || (map.key_only_literals && !info(key).is_literal);
  map.key = *both;
  map.key_only_literals &= info(key).is_literal;
}

void StoredTypes::use_declared_key(MapInfo& map, const Expr& key) {
  if (can_hold(map.declared_key, key))
    return follow_spaces(map.key, map.declared_key, info(key).type);
  Diagnostic& report =
      error(key.span, fmt::format("'{}' is declared with keys of type '{}' and cannot have {}",
                                  map.name, type_name(map.declared_key), found_text(info(key))));
  note_map(report, map);
  hint_at_cast(report, map.declared_key, info(key).type);
}

// Aggregations keep a value per CPU, everything else one for all.
void StoredTypes::check_declaration(const MapInfo& map) {
  if (!map.decl || map.decl->type.empty()) return;
  bool is_per_cpu = map.decl->type.starts_with("percpu");
  if (is_per_cpu == is_aggregation(map.value)) return;
  bool is_lru = map.decl->type.ends_with("lruhash");
  std::string fitting =
      is_per_cpu ? (is_lru ? "lruhash" : "hash") : (is_lru ? "percpulruhash" : "percpuhash");
  input_.diagnostics
      .error(map.decl->span, fmt::format("a map of type {} cannot hold the '{}' values of '{}'",
                                         map.decl->type, type_name(map.value), map.name))
      .with_note(map.span, "first used here")
      .with_hint(
          fmt::format("declare it as: let {} = {}({});", map.name, fitting, map.decl->entries));
}

void StoredTypes::finish_maps() {
  for (MapInfo& map : program_.maps) {
    if (input_.diagnostics.has_errors()) return;
    if (!map.is_reached) continue;
    if (!is(map.value, Kind::Unknown) && (map.is_scalar == true || !is(map.key, Kind::Unknown))) {
      check_declaration(map);
      continue;
    }
    input_.diagnostics.error(map.span, fmt::format("nothing is ever stored in map '{}'", map.name));
  }
}

void StoredTypes::finish_variables() {
  for (VariableInfo& variable : program_.variables) {
    if (input_.diagnostics.has_errors() || variable.is_merged) continue;
    if (!variable.is_reached) {  // all its uses stand in branches that are ruled out
      if (is(variable.type, Kind::Unknown)) variable.type = int_type(8, true);
      continue;
    }
    if (!is(variable.type, Kind::Unknown)) {
      if (!variable.is_assigned)
        input_.diagnostics.warning(variable.span,
                                   fmt::format("nothing is ever stored in '${}', so it stays empty",
                                               written_name(variable.name)));
      continue;
    }
    if (!variable.is_read) {
      variable.type = int_type(8, true);
      input_.diagnostics.warning(variable.span,
                                 fmt::format("'${}' is never used", written_name(variable.name)));
      continue;
    }
    input_.diagnostics.error(
        variable.span, fmt::format("nothing is ever stored in '${}'", written_name(variable.name)));
  }
}

}  // namespace flowtap
