// Type unification; see unify.h.

#include "sema/unify.h"

#include <algorithm>

namespace flowtap {

Type negative_literal_type(int64_t value) {
  if (value >= INT8_MIN) return int_type(1, true);
  if (value >= INT16_MIN) return int_type(2, true);
  if (value >= INT32_MIN) return int_type(4, true);
  return int_type(8, true);
}

Type literal_type(uint64_t value) {
  if (value <= INT8_MAX) return int_type(1, true);
  if (value <= INT16_MAX) return int_type(2, true);
  if (value <= INT32_MAX) return int_type(4, true);
  return int_type(8, value <= INT64_MAX);
}

// Signed and unsigned meet in the next wider signed type; 64 bits have none, and stay signed.
static Type unify_integers(const Meeting& a, const Meeting& b) {
  if (a.type->is_signed == b.type->is_signed)
    return int_type(std::max(a.type->size, b.type->size), a.type->is_signed);
  const Meeting& with_sign = a.type->is_signed ? a : b;
  const Meeting& without = a.type->is_signed ? b : a;
  if (with_sign.is_literal)
    return int_type(std::max(with_sign.type->size, without.type->size), false);
  if (without.type->size < with_sign.type->size) return with_sign.type;
  return int_type(std::min(8u, without.type->size * 2), true);
}

static std::optional<Type> unify_fields(const TypeData& a, const TypeData& b) {
  if (a.fields.size() != b.fields.size()) return std::nullopt;
  std::vector<std::pair<std::string, Type>> fields;
  for (const Field& field : a.fields) {
    auto same_name = [&](const Field& other) { return other.name == field.name; };
    auto other = std::find_if(b.fields.begin(), b.fields.end(), same_name);
    if (other == b.fields.end()) return std::nullopt;
    std::optional<Type> type = unify({field.type}, {other->type});
    if (!type) return std::nullopt;
    fields.emplace_back(field.name, *type);
  }
  if (a.kind == Kind::Record) return record_type(std::move(fields));
  std::vector<Type> types;
  types.reserve(fields.size());
  for (auto& [name, type] : fields) types.push_back(type);
  return tuple_type(std::move(types));
}

static std::optional<Type> unify_pointers(const Type& a, const Type& b) {
  bool a_is_void = is(a->element, Kind::None), b_is_void = is(b->element, Kind::None);
  if (a_is_void) return b;
  if (b_is_void || same_type(a->element, b->element)) return a->space == AddressSpace::None ? b : a;
  bool both_named = is(a->element, Kind::Struct) && is(b->element, Kind::Struct);
  if (both_named && a->element->name == b->element->name) return a;
  return std::nullopt;
}

std::optional<Type> unify(const Meeting& a, const Meeting& b) {
  if (is(a.type, Kind::Unknown)) return b.type;
  if (is(b.type, Kind::Unknown)) return a.type;
  if (is_integer(a.type) && is_integer(b.type)) {
    bool same =
        a.type->kind == b.type->kind && (is(a.type, Kind::Bool) || same_type(a.type, b.type));
    return same ? a.type : unify_integers(a, b);
  }
  if (is(a.type, Kind::Pointer) && b.is_literal) return a.type;
  if (is(b.type, Kind::Pointer) && a.is_literal) return b.type;
  if (a.type->kind != b.type->kind) return std::nullopt;
  switch (a.type->kind) {
    case Kind::String:
    case Kind::Buffer: return a.type->size >= b.type->size ? a.type : b.type;
    case Kind::Tuple:
    case Kind::Record: return unify_fields(*a.type, *b.type);
    case Kind::Pointer: return unify_pointers(a.type, b.type);
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max:
    case Kind::Avg:
    case Kind::Stats: return a.type->is_signed ? a.type : b.type;
    default: break;
  }
  if (!same_type(a.type, b.type)) return std::nullopt;
  return a.type;
}

Type with_spaces_of(const Type& declared, const Type& found) {
  if (declared->kind != found->kind) return declared;
  if (is(declared, Kind::Pointer)) return pointer_type(declared->element, found->space);
  if (!is(declared, Kind::Tuple)) return declared;
  std::vector<Type> fields;
  for (size_t i = 0; i < declared->fields.size(); i++)
    fields.push_back(with_spaces_of(declared->fields[i].type, found->fields[i].type));
  return tuple_type(std::move(fields));
}

Type readable(const Type& type) {
  switch (type->kind) {
    case Kind::Count: return int_type(8, false);
    case Kind::Sum:
    case Kind::Min:
    case Kind::Max:
    case Kind::Avg: return int_type(8, type->is_signed);
    default: return type;
  }
}

std::string type_family(const Type& type) {
  switch (type->kind) {
    case Kind::None: return "none";
    case Kind::Bool: return "bool";
    case Kind::Int: return "int";
    case Kind::Enum: return "enum";
    case Kind::String: return "string";
    case Kind::Buffer: return "buffer";
    case Kind::Pointer: return "pointer";
    case Kind::Array: return "array";
    case Kind::Struct: return type->is_union ? "union" : "struct";
    case Kind::Tuple: return "tuple";
    case Kind::Record: return "record";
    default: return type_name(type);  // the opaque ones have a name only
  }
}

Type type_info_record(const Type& type) {
  auto text = [](const std::string& t) { return string_type(static_cast<uint32_t>(t.size() + 1)); };
  return record_type({{"btf_id", int_type(8, true)},
                      {"base_ty", text(type_family(type))},
                      {"full_ty", text(type_name(type))}});
}

}  // namespace flowtap
