// Type values: constructors, comparison, names and layouts; see type.h.

#include "types/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace flowtap {

static Type make(TypeData data) { return std::make_shared<const TypeData>(std::move(data)); }

Type unknown_type() {
  static const Type type = make({.kind = Kind::Unknown});
  return type;
}

Type none_type() {
  static const Type type = make({.kind = Kind::None});
  return type;
}

Type bool_type() {
  static const Type type = make({.kind = Kind::Bool, .size = 1});
  return type;
}

// Asked for so often that those of C are made once.
Type int_type(uint32_t bytes, bool is_signed) {
  static const auto make_int = [](uint32_t size, bool with_sign) {
    return make({.kind = Kind::Int, .is_signed = with_sign, .size = size});
  };
  static const Type kept[] = {make_int(1, false), make_int(2, false), make_int(4, false),
                              make_int(8, false), make_int(1, true),  make_int(2, true),
                              make_int(4, true),  make_int(8, true)};
  if (!std::has_single_bit(bytes) || bytes > 8) return make_int(bytes, is_signed);
  return kept[(is_signed ? 4 : 0) + std::countr_zero(bytes)];
}

Type enum_type(std::string name, uint32_t bytes, bool is_signed, std::vector<Enumerator> values) {
  TypeData data{.kind = Kind::Enum, .is_signed = is_signed, .size = bytes, .name = std::move(name)};
  data.enumerators = std::make_shared<const std::vector<Enumerator>>(std::move(values));
  return make(std::move(data));
}

Type string_type(uint32_t bytes) { return make({.kind = Kind::String, .size = bytes}); }

Type char_array_type(uint32_t bytes) {
  return make({.kind = Kind::String, .size = bytes, .is_char_array = true});
}

Type found_in(AddressSpace space, const Type& type) {
  bool can_point = is(type, Kind::Array) || is(type, Kind::Struct) ||
                   (is(type, Kind::String) && type->is_char_array);
  if (!can_point || type->space == space) return type;
  TypeData data = *type;
  data.space = space;
  return make(std::move(data));
}

Type buffer_type(uint32_t payload_bytes) {
  return make({.kind = Kind::Buffer, .size = payload_bytes + 4});
}

Type pointer_type(Type element, AddressSpace space) {
  return make({.kind = Kind::Pointer, .space = space, .size = 8, .element = std::move(element)});
}

Type array_type(Type element, uint32_t count) {
  uint32_t size = element->size * count;
  return make({.kind = Kind::Array, .size = size, .count = count, .element = std::move(element)});
}

Type struct_type(std::string name, uint32_t size, bool is_union, int32_t definition) {
  TypeData data{.kind = Kind::Struct, .is_union = is_union, .size = size, .name = std::move(name)};
  data.definition = definition;
  return make(std::move(data));
}

Type record_type(std::vector<std::pair<std::string, Type>> elements) {
  TypeData data{.kind = Kind::Record};
  uint64_t offset = 0;
  uint32_t widest = 1;
  for (std::pair<std::string, Type>& element : elements) {
    Type& type = element.second;
    uint32_t alignment = alignment_of(type);
    widest = std::max(widest, alignment);
    offset = align_up(offset, alignment);
    data.fields.push_back(
        {.name = std::move(element.first), .type = type, .offset = static_cast<uint32_t>(offset)});
    offset += type->size;
  }
  data.size = static_cast<uint32_t>(align_up(offset, widest));
  return make(std::move(data));
}

Type tuple_type(std::vector<Type> elements) {
  std::vector<std::pair<std::string, Type>> named;
  for (size_t i = 0; i < elements.size(); i++) named.emplace_back(std::to_string(i), elements[i]);
  TypeData data = *record_type(std::move(named));
  data.kind = Kind::Tuple;
  return make(std::move(data));
}

Type simple_type(Kind kind, uint32_t size, bool is_signed) {
  return make({.kind = kind, .is_signed = is_signed, .size = size});
}

Type stack_type(Kind kind, StackMode mode, uint32_t limit, uint32_t size) {
  TypeData data{.kind = kind, .size = size};
  data.stack_mode = mode;
  data.stack_limit = limit;
  return make(std::move(data));
}

static bool same_fields(const TypeData& a, const TypeData& b) {
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const Field& x, const Field& y) {
                      return x.name == y.name && x.offset == y.offset && same_type(x.type, y.type);
                    });
}

bool same_type(const Type& a, const Type& b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->size != b->size || a->is_signed != b->is_signed) return false;
  switch (a->kind) {
    case Kind::Pointer: return a->space == b->space && same_type(a->element, b->element);
    case Kind::Array: return a->count == b->count && same_type(a->element, b->element);
    case Kind::Struct:
    case Kind::Enum: return a->name == b->name;
    case Kind::Tuple:
    case Kind::Record: return same_fields(*a, *b);
    case Kind::KStack:
    case Kind::UStack: return a->stack_mode == b->stack_mode && a->stack_limit == b->stack_limit;
    case Kind::Hist: return a->bits == b->bits;
    case Kind::Lhist: return a->min == b->min && a->max == b->max && a->step == b->step;
    case Kind::Tseries:
      return a->interval == b->interval && a->intervals == b->intervals && a->agg == b->agg;
    default: return true;
  }
}

static std::string list_of_names(const TypeData& type, bool with_field_names) {
  std::vector<std::string> parts;
  for (const Field& field : type.fields)
    parts.push_back(with_field_names ? field.name + "=" + type_name(field.type)
                                     : type_name(field.type));
  return fmt::format("({})", fmt::join(parts, ","));
}

std::string type_name(const Type& type) {
  const TypeData& t = *type;
  switch (t.kind) {
    case Kind::Unknown: return "unknown";
    case Kind::None: return "none";
    case Kind::Bool: return "bool";
    case Kind::Int: return fmt::format("{}int{}", t.is_signed ? "" : "u", t.size * 8);
    case Kind::Enum: return t.name;
    case Kind::String: return fmt::format("string[{}]", t.size);
    case Kind::Buffer: return fmt::format("buffer[{}]", t.size - 4);
    case Kind::Pointer: return (is(t.element, Kind::None) ? "void" : type_name(t.element)) + " *";
    case Kind::Array: return fmt::format("{}[{}]", type_name(t.element), t.count);
    case Kind::Struct: return t.name;
    case Kind::Tuple: return list_of_names(t, false);
    case Kind::Record: return list_of_names(t, true);
    case Kind::KStack: return "kstack_t";
    case Kind::UStack: return "ustack_t";
    case Kind::KSym: return "ksym_t";
    case Kind::USym: return "usym_t";
    case Kind::Username: return "username_t";
    case Kind::Inet: return "inet";
    case Kind::Mac: return "mac_address";
    case Kind::CgroupPath: return "cgroup_path_t";
    case Kind::Timestamp: return "timestamp";
    case Kind::Count: return "count_t";
    case Kind::Sum: return t.is_signed ? "sum_t" : "usum_t";
    case Kind::Min: return t.is_signed ? "min_t" : "umin_t";
    case Kind::Max: return t.is_signed ? "max_t" : "umax_t";
    case Kind::Avg: return t.is_signed ? "avg_t" : "uavg_t";
    case Kind::Stats: return t.is_signed ? "stats_t" : "ustats_t";
    case Kind::Hist: return "hist_t";
    case Kind::Lhist: return "lhist_t";
    case Kind::Tseries: return "tseries_t";
  }
  UNREACHABLE("a type kind without a name");
}

uint32_t alignment_of(const Type& type) {
  switch (type->kind) {
    case Kind::String:
    case Kind::Mac: return 1;
    case Kind::Buffer: return 4;
    case Kind::Array: return alignment_of(type->element);
    case Kind::Bool:
    case Kind::Int:
    case Kind::Enum:
    case Kind::Pointer: return std::max(1u, type->size);
    case Kind::Tuple:
    case Kind::Record: {
      uint32_t widest = 1;
      for (const Field& field : type->fields) widest = std::max(widest, alignment_of(field.type));
      return widest;
    }
    default: return 8;
  }
}

const Field* find_field(const Type& type, std::string_view name) {
  for (const Field& field : type->fields)
    if (field.name == name) return &field;
  return nullptr;
}

uint32_t hist_buckets(const TypeData& type) {
  if (type.kind == Kind::Lhist)
    return static_cast<uint32_t>((type.max - type.min + type.step - 1) / type.step) + 2;
  return hist_bucket(UINT64_MAX, type.bits, false) + 1;
}

// For k bits: value v >= 2^(k+1) with top bit n falls in power n, sub-bucket (v >> (n-k)) - 2^k.
uint32_t hist_bucket(uint64_t v, uint32_t bits, bool is_signed) {
  if (is_signed && static_cast<int64_t>(v) < 0) return 0;
  uint32_t single = 1u << bits;
  if (v < single) return static_cast<uint32_t>(v) + 1;
  uint32_t power = 63 - static_cast<uint32_t>(__builtin_clzll(v));
  uint32_t sub = static_cast<uint32_t>(v >> (power - bits)) - single;
  return 1 + single + (power - bits) * single + sub;
}

BucketRange hist_range(uint32_t bucket, uint32_t bits) {
  if (bucket == 0) return {.high = 0, .is_open_low = true};
  uint32_t single = 1u << bits;
  uint32_t index = bucket - 1;
  if (index < single) return {.low = index, .high = index + 1ull};
  uint32_t shift = (index - single) >> bits;
  uint64_t sub = (index - single) & (single - 1);
  uint64_t low = (single + sub) << shift;
  uint64_t high = low + (1ull << shift);  // 0 at the very top
  return {.low = static_cast<int64_t>(low), .high = high, .is_open_high = high == 0};
}

BucketRange lhist_range(uint32_t bucket, const TypeData& type) {
  if (bucket == 0) return {.high = static_cast<uint64_t>(type.min), .is_open_low = true};
  if (bucket + 1 == hist_buckets(type)) return {.low = type.max, .is_open_high = true};
  int64_t low = type.min + (static_cast<int64_t>(bucket) - 1) * type.step;
  return {.low = low, .high = static_cast<uint64_t>(std::min(low + type.step, type.max))};
}

}  // namespace flowtap
