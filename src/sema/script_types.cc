// Names of types and constants; see script_types.h.

#include "sema/script_types.h"

#include "types/layout.h"

namespace flowtap {

namespace {

struct NamedInt {
  const char* name;
  uint32_t bytes;
  bool is_signed;
};

// The language's own names first, then C's as people write them in casts.
constexpr NamedInt kIntegers[] = {
    {"uint8", 1, false}, {"uint16", 2, false}, {"uint32", 4, false}, {"uint64", 8, false},
    {"int8", 1, true}, {"int16", 2, true}, {"int32", 4, true}, {"int64", 8, true},
    {"uint8_t", 1, false}, {"uint16_t", 2, false}, {"uint32_t", 4, false}, {"uint64_t", 8, false},
    {"int8_t", 1, true}, {"int16_t", 2, true}, {"int32_t", 4, true}, {"int64_t", 8, true},
    {"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
    {"s8", 1, true}, {"s16", 2, true}, {"s32", 4, true}, {"s64", 8, true},
    {"__u8", 1, false}, {"__u16", 2, false}, {"__u32", 4, false}, {"__u64", 8, false},
    {"__s8", 1, true}, {"__s16", 2, true}, {"__s32", 4, true}, {"__s64", 8, true},
    {"__be16", 2, false}, {"__be32", 4, false}, {"__be64", 8, false}, {"__le16", 2, false}, {"__le32", 4, false}, {"__le64", 8, false},
    {"char", 1, true}, {"signed char", 1, true}, {"unsigned char", 1, false},
    {"short", 2, true}, {"short int", 2, true}, {"unsigned short", 2, false}, {"unsigned short int", 2, false},
    {"int", 4, true}, {"signed", 4, true}, {"signed int", 4, true}, {"unsigned", 4, false}, {"unsigned int", 4, false},
    {"long", 8, true}, {"long int", 8, true}, {"unsigned long", 8, false}, {"unsigned long int", 8, false},
    {"long unsigned int", 8, false}, {"long long", 8, true}, {"long long int", 8, true},
    {"unsigned long long", 8, false}, {"long long unsigned int", 8, false},
    {"size_t", 8, false}, {"ssize_t", 8, true}, {"uintptr_t", 8, false}, {"intptr_t", 8, true},
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

}  // namespace

ScriptTypes::ScriptTypes(const Ast&, const Target& target, Diagnostics&) : target_(target) {}

Type ScriptTypes::find_type(const std::string& name) const {
  if (auto found = defined_.find(name); found != defined_.end()) return found->second;
  if (Type type = builtin_type(name)) return type;
  return target_.find_type(name);
}

Type ScriptTypes::complete(const Type& type) const {
  if (type->is_complete) return type;
  if (auto found = defined_.find(type->name); found != defined_.end()) return found->second;
  return target_.complete(type);
}

std::optional<EnumConstant> ScriptTypes::find_enumerator(const std::string& name) const {
  if (auto found = enumerators_.find(name); found != enumerators_.end()) return found->second;
  return target_.find_enumerator(name);
}

}  // namespace flowtap
