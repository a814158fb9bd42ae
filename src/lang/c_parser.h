#pragma once
// C definitions of a script: structs, unions, enums and #defines, as declarations without layout.
// What the kernel defines comes from BTF; this is for what scripts define themselves.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lang/ast.h"
#include "source/diagnostics.h"

namespace flowtap {

// `int *a[2][3]`: name "int", one pointer, dimensions {2, 3}; an array of arrays of pointers.
struct CType {
  // "int", "unsigned long", "struct a", "enum b", "size_t"; words of numeric types are in the order
  // [unsigned] char|short|int|long|long long|__int128, or float|double|long double. A function
  // pointer is "void" with a pointer.
  std::string name;
  int pointers = 0;
  std::vector<uint64_t> dimensions;  // `a[]` has a dimension 0
};

struct CField {
  Span span;
  std::string name;  // empty: the members of an unnamed struct or union, or padding bits
  CType type;
  int64_t bits = -1;  // width of a bit field; -1: it is none
  bool is_packed = false;
  uint64_t alignment = 0;  // from aligned(n) or _Alignas(n); 0: that of its type
};

struct CStruct {
  Span span;
  std::string name;  // the tag; unnamed ones are called "(unnamed 1)", ...
  bool is_union = false;
  bool is_packed = false;
  uint64_t alignment = 0;  // from __attribute__((aligned(n))); 0: the natural one
  std::vector<CField> fields;
};

struct CEnum {
  struct Value {
    std::string name;
    int64_t value = 0;
  };
  Span span;
  std::string name;  // the tag, or empty
  bool is_packed = false;
  std::vector<Value> values;
};

// The integer type that a C compiler takes for an enum: an int, where all values fit one.
struct EnumInteger {
  uint32_t bytes = 4;
  bool is_signed = false;
};
EnumInteger integer_of(const CEnum& definition);

struct CDefine {
  Span span;  // of the text
  std::string name;
  std::string text;          // what the name stands for, may be empty
  bool is_function = false;  // #define f(x): recorded with its parameters, never expanded
};

struct CDeclarations {
  std::vector<CStruct> structs;  // inner ones stand before those that hold them
  std::vector<CEnum> enums;
  std::vector<CDefine> defines;
  std::vector<std::string> includes;  // as written, with <> or ""
};

// `predefined` are names that #ifdef finds defined, such as BPFTRACE_HAVE_BTF.
CDeclarations parse_c(std::span<const CDefinition> definitions,
                      std::span<const std::string> predefined, Diagnostics& diagnostics);

// One declaration per line, for tests and dumps.
std::string print_c(const CDeclarations& declarations);

}  // namespace flowtap
