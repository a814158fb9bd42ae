// BTF ids -> types. Ways in: type(), find(), complete().
//
// Typedefs and qualifiers disappear, since the language compares types by what they are. Pointers
// keep what they point to; a struct behind one is only named, so the walk ends there. complete()
// later lists the members of one struct: those of anonymous structs and unions are pulled up with
// their offsets added, as C lets a program write them.
//
// Some things are not what BTF says. A type named plain "char" becomes a signed byte whatever the
// kernel was built with (-funsigned-char since 6.2): it is how an array of characters is told from
// an array of u8. Floats and 128-bit integers, which the language cannot hold, become arrays of
// bytes or words. A typedef's name is given to the anonymous struct behind it.
//
// BTF from a damaged file may refer in circles; every walk counts its steps.

#include "types/btf_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/array_size.h"
#include "types/members.h"

namespace flowtap {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint32_t kIdBits = 22;

bool is_alias(BtfKind kind) {
  return kind == BtfKind::Typedef || kind == BtfKind::Const || kind == BtfKind::Volatile ||
         kind == BtfKind::Restrict || kind == BtfKind::TypeTag || kind == BtfKind::DeclTag ||
         kind == BtfKind::Var;
}

bool is_struct(BtfKind kind) { return kind == BtfKind::Struct || kind == BtfKind::Union; }

Type convert_int(const BtfType& type) {
  BtfInt info = Btf::int_info(type);
  if (info.is_bool && type.size == 1) return bool_type();
  if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
    return opaque_type(type.size);
  return int_type(type.size, info.is_signed || type.name == "char");
}

}  // namespace

// Where the members of a struct being flattened lie.
struct BtfTypes::Place {
  uint32_t bit_offset = 0;
  AddressSpace space = AddressSpace::Kernel;
};

Type BtfTypes::type(uint32_t id, AddressSpace space) const { return convert(id, space, 0); }

struct BtfTypes::Flat {
  std::vector<Field>& fields;
  std::vector<uint32_t> open = {};  // the structs on the way down: one that comes again is a circle
  int parts = 0;
};

Type BtfTypes::convert(uint32_t id, AddressSpace space, int depth) const {
  std::string_view alias;
  BtfType type = btf_->type(id);
  for (; is_alias(type.kind); type = btf_->type(id)) {
    if (++depth > kMaxDepth) return none_type();
    if (type.kind == BtfKind::Typedef) alias = type.name;
    id = type.target;
  }
  if (depth > kMaxDepth) return none_type();
  switch (type.kind) {
    case BtfKind::Int: return convert_int(type);
    case BtfKind::Float: return opaque_type(type.size);
    case BtfKind::Ptr: return convert_pointer(type, space, depth);
    case BtfKind::Array: return convert_array(type, space, depth);
    case BtfKind::Struct:
    case BtfKind::Union:
    case BtfKind::Fwd: return convert_struct(type, id, alias);
    case BtfKind::Enum:
    case BtfKind::Enum64: return convert_enum(type, alias);
    default: return none_type();
  }
}

// Compilers hang address spaces on what is pointed to: PTR -> TYPE_TAG "user" -> CONST -> char.
Type BtfTypes::convert_pointer(const BtfType& type, AddressSpace space, int depth) const {
  AddressSpace pointed = space;
  bool is_percpu = false;
  BtfType tag = btf_->type(type.target);
  for (int step = 0; is_alias(tag.kind) && tag.kind != BtfKind::Typedef && step < kMaxDepth;
       step++) {
    if (tag.kind == BtfKind::TypeTag && tag.name == "user") pointed = AddressSpace::User;
    if (tag.kind == BtfKind::TypeTag && tag.name == "percpu") is_percpu = true;
    tag = btf_->type(tag.target);
  }
  Type pointer = pointer_type(convert(type.target, space, depth + 1), pointed);
  if (!is_percpu) return pointer;
  TypeData data = *pointer;
  data.is_percpu = true;
  return std::make_shared<const TypeData>(std::move(data));
}

Type BtfTypes::convert_array(const BtfType& type, AddressSpace space, int depth) const {
  BtfArray info = Btf::array_info(type);
  Type element = convert(info.element, space, depth + 1);
  if (!can_repeat(element, info.count)) return none_type();
  return array_type(element, info.count);
}

Type BtfTypes::convert_struct(const BtfType& type, uint32_t id, std::string_view alias) const {
  bool is_forward = type.kind == BtfKind::Fwd;
  bool is_union = is_forward ? type.kind_flag : type.kind == BtfKind::Union;
  std::string_view keyword = is_union ? "union" : "struct";
  std::string name = !type.name.empty() ? fmt::format("{} {}", keyword, type.name)
                     : !alias.empty()   ? std::string(alias)
                                        : fmt::format("{} (anonymous {})", keyword, id);
  bool has_number = !is_forward && id < 1u << kIdBits && number_ <= kMaxNumber;
  int32_t definition = has_number ? static_cast<int32_t>(number_ << kIdBits | id) : -1;
  return struct_type(std::move(name), type.size, is_union, definition);
}

Type BtfTypes::convert_enum(const BtfType& type, std::string_view alias) const {
  std::vector<Enumerator> values;
  for (const BtfEnumerator& value : btf_->enumerators(type))
    values.push_back({std::string(value.name), value.value});
  std::string name = !type.name.empty() ? fmt::format("enum {}", type.name)
                     : !alias.empty()   ? std::string(alias)
                                        : "enum (anonymous)";
  return enum_type(std::move(name), type.size, type.kind_flag, std::move(values));
}

Type BtfTypes::find(std::string_view name) const {
  size_t space = name.find(' ');
  std::string_view keyword = name.substr(0, space);
  std::string_view tag = space == std::string_view::npos ? name : name.substr(space + 1);
  uint32_t id = 0;
  if (keyword == "struct") {
    id = btf_->find(tag, BtfKind::Struct);
  } else if (keyword == "union") {
    id = btf_->find(tag, BtfKind::Union);
  } else if (keyword == "enum") {
    id = btf_->find(tag, BtfKind::Enum);
    if (!id) id = btf_->find(tag, BtfKind::Enum64);
  } else {
    id = btf_->find(name, BtfKind::Typedef);
    if (!id) id = btf_->find(name, BtfKind::Int);
  }
  return id ? type(id) : nullptr;
}

uint32_t BtfTypes::number_of(const Type& type) {
  return static_cast<uint32_t>(type->definition) >> kIdBits;
}

uint32_t BtfTypes::id_of(const Type& type) {
  return static_cast<uint32_t>(type->definition) & ((1u << kIdBits) - 1);
}

Type BtfTypes::complete(const Type& type) const {
  if (type->kind != Kind::Struct || type->is_complete || type->definition < 0) return type;
  TypeData data = *type;
  data.is_complete = true;
  Place place;
  if (type->space != AddressSpace::None) place.space = type->space;
  Flat flat{data.fields};
  add_members(id_of(type), place, flat);
  return std::make_shared<const TypeData>(std::move(data));
}

void BtfTypes::add_members(uint32_t id, const Place& place, Flat& flat) const {
  bool is_circle = std::find(flat.open.begin(), flat.open.end(), id) != flat.open.end();
  if (is_circle || flat.open.size() > kMaxDepth) return;
  flat.open.push_back(id);
  for (const BtfMember& member : btf_->members(btf_->type(id))) {
    if (++flat.parts > kMaxBtfParts) break;
    add_member(member, place, flat);
  }
  flat.open.pop_back();
}

uint32_t BtfTypes::skip_names(uint32_t id) const {
  for (int step = 0; step < kMaxDepth; step++) {
    BtfType type = btf_->type(id);
    if (!is_alias(type.kind)) break;
    id = type.target;
  }
  return id;
}

void BtfTypes::add_member(const BtfMember& member, const Place& place, Flat& flat) const {
  uint32_t id = skip_names(member.type);
  BtfType type = btf_->type(id);
  uint32_t bit_offset = place.bit_offset + member.bit_offset;
  if (member.name.empty()) {
    // What is unnamed and no struct is padding: "int : 4".
    if (is_struct(type.kind)) add_members(id, {bit_offset, place.space}, flat);
    return;
  }
  Field field{.name = std::string(member.name), .type = this->type(member.type, place.space)};
  uint32_t bit_size = member.bit_size;
  // Compilers older than kind_flag made an integer type of the field's width instead.
  BtfInt info = Btf::int_info(type);
  if (bit_size == 0 && info.bits != type.size * 8 && type.kind == BtfKind::Int) {
    bit_size = info.bits;
    bit_offset += info.bit_offset;
  }
  field.offset = bit_offset / 8;
  if (bit_size > 0 && bit_size <= 64 && is_integer(field.type)) {
    field.bit_size = static_cast<uint8_t>(bit_size);
    place_bits(bit_offset, field);
  }
  flat.fields.push_back(std::move(field));
}

}  // namespace flowtap
