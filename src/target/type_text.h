#pragma once
// C type text, as tracefs writes it ("const char *", "u32", "char comm[16]") -> types.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "types/type.h"

namespace flowtap {

// Looks up "struct x", "union x", "enum x" or a typedef; null when there is none.
using FindType = std::function<Type(std::string_view)>;

struct CDeclaration {
  std::string name;
  Type type;                 // unknown_type() when the text names a type by value that nobody knows
  bool is_data_loc = false;  // type is then that of one element
  bool is_rel_loc = false;
};

// A declaration without its semicolon: type, name, and array bounds. An array without a number
// for its bound gets count 0. Pointers point into `space`. Nothing when there is no name in it.
std::optional<CDeclaration> parse_declaration(std::string_view text, const FindType& find,
                                              AddressSpace space = AddressSpace::Kernel);

// A type alone: "unsigned long", "struct sock *".
Type parse_type_text(std::string_view text, const FindType& find,
                     AddressSpace space = AddressSpace::Kernel);

}  // namespace flowtap
