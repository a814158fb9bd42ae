// Prints C declarations, one per line and the fields of a struct below it:
//
//   define N = 4
//   enum e: A=0 B=5
//   struct a: packed
//     x: unsigned long[4]

#include <fmt/format.h>

#include "lang/c_parser.h"

namespace flowtap {

static std::string print_type(const CType& type) {
  std::string out = type.name;
  if (type.pointers > 0) out += " " + std::string(static_cast<size_t>(type.pointers), '*');
  for (uint64_t length : type.dimensions) out += fmt::format("[{}]", length);
  return out;
}

std::string print_c(const CDeclarations& declarations) {
  std::string out;
  for (const std::string& include : declarations.includes) out += "include " + include + "\n";
  for (const CDefine& d : declarations.defines)
    out += fmt::format("define {}{} = {}\n", d.name, d.is_function ? "()" : "", d.text);
  for (const CEnum& e : declarations.enums) {
    out += fmt::format("enum {}:{}", e.name, e.is_packed ? " packed" : "");
    for (const CEnum::Value& v : e.values) out += fmt::format(" {}={}", v.name, v.value);
    out += "\n";
  }
  for (const CStruct& s : declarations.structs) {
    out += fmt::format("{} {}:{}", s.is_union ? "union" : "struct", s.name,
                       s.is_packed ? " packed" : "");
    if (s.alignment) out += fmt::format(" aligned {}", s.alignment);
    out += "\n";
    for (const CField& f : s.fields) {
      out += fmt::format("  {}: {}", f.name, print_type(f.type));
      if (f.bits >= 0) out += fmt::format(" : {}", f.bits);
      if (f.is_packed) out += " packed";
      if (f.alignment) out += fmt::format(" aligned {}", f.alignment);
      out += "\n";
    }
  }
  return out;
}

}  // namespace flowtap
