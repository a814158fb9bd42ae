#pragma once
// How types meet: the one type that two values can share, as variables, map keys and map values
// need it when a script assigns to them more than once.

#include <optional>
#include <string>

#include "types/type.h"

namespace flowtap {

// A type and whether every value behind it was an integer literal, which adapts to what it meets.
struct Meeting {
  Type type;
  bool is_literal = false;
};

// Nothing when the two cannot share a type.
std::optional<Type> unify(const Meeting& a, const Meeting& b);

// A declared type whose pointers point into the memory that those of `found` point into.
Type with_spaces_of(const Type& declared, const Type& found);

// The smallest signed type that holds a literal; uint64 above the largest int64.
Type literal_type(uint64_t value);
Type negative_literal_type(int64_t value);

// The integer a map of counts, sums... reads as in an expression; other types are left alone.
Type readable(const Type& type);

// What kind of type it is, in the word that typeinfo() uses: "int", "pointer", "struct"...
std::string type_family(const Type& type);
// What typeinfo() gives about a type: (btf_id, base_ty, full_ty).
Type type_info_record(const Type& type);

}  // namespace flowtap
