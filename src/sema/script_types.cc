// Names of types and constants, and the structs that a script defines; see script_types.h.

#include "sema/script_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/bytes.h"
#include "builtins/constants.h"
#include "builtins/kernel_constants.h"
#include "sema/c_layout.h"
#include "types/array_size.h"
#include "types/layout.h"
#include "types/members.h"

namespace flowtap {

namespace {

struct NamedInt {
  std::string_view name;
  uint32_t bytes;
  bool is_signed;
};

// The language's own names first, then C's as people write them in casts.
constexpr NamedInt kIntegers[] = {
    {"uint8", 1, false},
    {"uint16", 2, false},
    {"uint32", 4, false},
    {"uint64", 8, false},
    {"int8", 1, true},
    {"int16", 2, true},
    {"int32", 4, true},
    {"int64", 8, true},
    {"uint8_t", 1, false},
    {"uint16_t", 2, false},
    {"uint32_t", 4, false},
    {"uint64_t", 8, false},
    {"int8_t", 1, true},
    {"int16_t", 2, true},
    {"int32_t", 4, true},
    {"int64_t", 8, true},
    {"u8", 1, false},
    {"u16", 2, false},
    {"u32", 4, false},
    {"u64", 8, false},
    {"s8", 1, true},
    {"s16", 2, true},
    {"s32", 4, true},
    {"s64", 8, true},
    {"__u8", 1, false},
    {"__u16", 2, false},
    {"__u32", 4, false},
    {"__u64", 8, false},
    {"__s8", 1, true},
    {"__s16", 2, true},
    {"__s32", 4, true},
    {"__s64", 8, true},
    {"__be16", 2, false},
    {"__be32", 4, false},
    {"__be64", 8, false},
    {"__le16", 2, false},
    {"__le32", 4, false},
    {"__le64", 8, false},
    {"char", 1, true},
    {"signed char", 1, true},
    {"unsigned char", 1, false},
    {"short", 2, true},
    {"short int", 2, true},
    {"unsigned short", 2, false},
    {"unsigned short int", 2, false},
    {"int", 4, true},
    {"signed", 4, true},
    {"signed int", 4, true},
    {"unsigned", 4, false},
    {"unsigned int", 4, false},
    {"long", 8, true},
    {"long int", 8, true},
    {"unsigned long", 8, false},
    {"unsigned long int", 8, false},
    {"long unsigned int", 8, false},
    {"long long", 8, true},
    {"long long int", 8, true},
    {"unsigned long long", 8, false},
    {"long long unsigned int", 8, false},
    {"size_t", 8, false},
    {"ssize_t", 8, true},
    {"uintptr_t", 8, false},
    {"intptr_t", 8, true},
};

Type builtin_type(const std::string& name) {
  for (const NamedInt& integer : kIntegers)
    if (name == integer.name) return int_type(integer.bytes, integer.is_signed);
  if (name == "bool" || name == "_Bool") return bool_type();
  if (name == "void") return none_type();
  if (name == "string") return string_type(64);
  if (name == "buffer") return buffer_type(64);
  if (name == "inet") return simple_type(Kind::Inet, kInetSize);
  if (name == "count_t") return simple_type(Kind::Count, 8);
  return nullptr;
}

struct OtherNumber {
  std::string_view name;
  uint32_t bytes;
};

// Types without values in the language: members of them are laid out, and read as bytes.
constexpr OtherNumber kOtherNumbers[] = {
    {"float", 4}, {"double", 8}, {"long double", 16}, {"__int128", 16}, {"unsigned __int128", 16}};

Type other_number(std::string_view name) {
  for (const OtherNumber& number : kOtherNumbers) {
    if (name != number.name) continue;
    TypeData data = *opaque_type(number.bytes);
    data.alignment = number.bytes;
    return std::make_shared<const TypeData>(std::move(data));
  }
  return nullptr;
}

// What a member adds to the fields of its struct: those of an unnamed struct or union belong to the
// outer one, and an unnamed bit field is a gap.
void add_fields(std::vector<Field>& fields, const CField& member, const Type& type, uint32_t bit) {
  Field field{.name = member.name, .type = type, .offset = bit / 8};
  if (member.bits >= 0) {
    field.bit_size = static_cast<uint8_t>(member.bits);
    place_bits(bit, field);
  }
  if (!member.name.empty()) {
    fields.push_back(std::move(field));
    return;
  }
  for (Field inner : type->fields) {
    inner.offset += field.offset;
    fields.push_back(std::move(inner));
  }
}

}  // namespace

ScriptTypes::ScriptTypes(const CDeclarations& declarations, const Target& target,
                         Diagnostics& diagnostics)
    : target_(target) {
  for (const CEnum& definition : declarations.enums) define_enum(definition);
  for (const CStruct& definition : declarations.structs)
    declared_.insert((definition.is_union ? "union " : "struct ") + definition.name);
  for (const CStruct& definition : declarations.structs) define_struct(definition, diagnostics);
}

void ScriptTypes::define_enum(const CEnum& definition) {
  std::vector<Enumerator> values;
  for (const CEnum::Value& value : definition.values) values.push_back({value.name, value.value});
  EnumInteger integer = integer_of(definition);
  std::string name = "enum " + (definition.name.empty() ? "(unnamed)" : definition.name);
  Type type = enum_type(name, integer.bytes, integer.is_signed, std::move(values));
  if (!definition.name.empty()) defined_[name] = type;
  for (const CEnum::Value& value : definition.values)
    enumerators_[value.name] = {type, value.value};
}

Type ScriptTypes::resolve(const CType& type) const {
  bool comes_later = declared_.contains(type.name) && !defined_.contains(type.name);
  Type found = other_number(type.name);
  if (comes_later)
    found = struct_type(type.name, 0, type.name.starts_with("union "), -1);
  else if (!found)
    found = find_type(type.name);
  if (comes_later && type.pointers == 0) return nullptr;
  if (!found && type.pointers > 0) found = none_type();  // an opaque struct behind a pointer
  if (!found) return nullptr;
  for (int i = 0; i < type.pointers; i++) found = pointer_type(found, AddressSpace::Kernel);
  for (size_t i = type.dimensions.size(); i-- > 0;) {
    if (!can_repeat(found, type.dimensions[i])) return unknown_type();
    found = array_type(found, static_cast<uint32_t>(type.dimensions[i]));
  }
  return found;
}

// The alignment that a C compiler gives a type. BTF does not record it: the members show it.
uint32_t ScriptTypes::alignment(const Type& type, int depth) const {
  constexpr int kMostDepth = 50;
  if (type->alignment) return type->alignment;
  if (is(type, Kind::Array)) return alignment(type->element, depth);
  if (!is(type, Kind::Struct)) return alignment_of(type);
  if (depth > kMostDepth) return 1;
  Type whole = complete(type);
  uint32_t widest = 1;
  for (const Field& field : whole->fields) {
    uint32_t own = alignment(field.type, depth + 1);
    if (field.offset % own != 0) return 1;  // packed
    widest = std::max(widest, own);
  }
  return whole->size % widest == 0 ? widest : 1;
}

// Reports what no member can be; answers whether this one can be laid out.
bool ScriptTypes::check_member(const CField& member, const std::string& owner, const Type& type,
                               Diagnostics& diagnostics) const {
  if (!type) {
    Diagnostic& report =
        diagnostics.error(member.span, fmt::format("there is no type '{}'", member.type.name));
    if (declared_.contains(member.type.name))
      report.with_hint(fmt::format("define it before '{}'", owner));
    return false;
  }
  if (member.bits < 0 || (is_integer(type) && member.bits <= type->size * 8)) return true;
  diagnostics.error(member.span,
                    fmt::format("'{}' cannot hold {} bits", type_name(type), member.bits));
  return false;
}

void ScriptTypes::define_struct(const CStruct& definition, Diagnostics& diagnostics) {
  CLayout layout(definition.is_union, definition.alignment);
  TypeData data{.kind = Kind::Struct, .is_union = definition.is_union, .is_complete = true};
  data.name = (definition.is_union ? "union " : "struct ") + definition.name;
  for (const CField& member : definition.fields) {
    Type type = resolve(member.type);
    if (!check_member(member, data.name, type, diagnostics)) continue;
    if (is(type, Kind::Struct)) type = complete(type);
    if (is(type, Kind::Unknown) || layout.size() + type->size > kMaxTypeSize) {
      diagnostics.error(member.span, fmt::format("'{}' is too large: a type has at most {} bytes",
                                                 member.name, kMaxTypeSize));
      return;
    }
    uint64_t bit = layout.place({.size = type->size,
                                 .alignment = alignment(type),
                                 .bits = member.bits,
                                 .has_name = !member.name.empty(),
                                 .is_packed = member.is_packed || definition.is_packed,
                                 .wanted = member.alignment});
    add_fields(data.fields, member, type, static_cast<uint32_t>(bit));
  }
  data.alignment = static_cast<uint32_t>(layout.alignment());
  data.size = static_cast<uint32_t>(layout.size());
  std::string name = data.name;
  defined_[name] = std::make_shared<const TypeData>(std::move(data));
}

bool ScriptTypes::is_basic(const std::string& name) { return builtin_type(name) != nullptr; }

Type ScriptTypes::find_type(const std::string& name, const std::string& program) const {
  if (auto found = defined_.find(name); found != defined_.end()) return found->second;
  if (Type type = builtin_type(name)) return type;
  if (!program.empty())
    if (Result<Type> type = target_.user_type(program, name); type && *type) return *type;
  return target_.find_type(name);
}

Type ScriptTypes::complete(const Type& type) const {
  if (type->is_complete) return type;
  if (auto found = defined_.find(type->name); found != defined_.end()) return found->second;
  return target_.complete(type);
}

Type ScriptTypes::complete_all(const Type& type) const {
  bool holds_types = is(type, Kind::Struct) || is(type, Kind::Tuple) || is(type, Kind::Record);
  if (is(type, Kind::Array)) {
    TypeData array = *type;
    array.element = complete_all(type->element);
    return std::make_shared<const TypeData>(std::move(array));
  }
  if (!holds_types) return type;
  TypeData whole = *(is(type, Kind::Struct) ? complete(type) : type);
  for (Field& field : whole.fields) field.type = complete_all(field.type);
  return std::make_shared<const TypeData>(std::move(whole));
}

std::optional<EnumConstant> ScriptTypes::find_enumerator(const std::string& name) const {
  if (auto found = enumerators_.find(name); found != enumerators_.end()) return found->second;
  // The kernel's BTF knows no macros, and it takes long to find that out.
  std::optional<Constant> constant = find_constant(name);
  if (!constant || constant->is_enumerator)
    if (std::optional<EnumConstant> known = target_.find_enumerator(name)) return known;
  if (constant) return EnumConstant{int_type(8, true), constant->value};
  if (std::optional<int64_t> value = find_kernel_constant(name))
    return EnumConstant{int_type(8, true), *value};
  std::string bit_name = enumerator_of_flag(name);
  std::optional<EnumConstant> bit =
      bit_name.empty() ? std::nullopt : target_.find_enumerator(bit_name);
  if (bit && bit->value >= 0 && bit->value < 63)
    return EnumConstant{int_type(8, true), int64_t{1} << bit->value};
  return std::nullopt;
}

}  // namespace flowtap
