// Tables of C definitions in, printed declarations or messages out.

#include "lang/c_parser.h"

#include <gtest/gtest.h>

#include "lang/parser.h"

namespace flowtap {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* expected;  // begins with a newline, which is not part of it
};

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class CTable : public testing::TestWithParam<Case> {};

TEST_P(CTable, parses) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources, sources.add("t.bt", GetParam().text), diagnostics);
  std::vector<std::string> predefined = {"BPFTRACE_HAVE_BTF"};
  CDeclarations declarations = parse_c(ast.c_definitions, predefined, diagnostics);
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, sources);
  EXPECT_EQ("\n" + out + print_c(declarations), GetParam().expected);
}

const Case kStructs[] = {
    {"fields", "struct a { int x; unsigned long int y; const char *const s; u32 z; };", R"(
struct a:
  x: int
  y: unsigned long
  s: char *
  z: u32
)"},
    {"several_declarators", "struct a { int x, *y, z[2][3]; };", R"(
struct a:
  x: int
  y: int *
  z: int[2][3]
)"},
    {"integers_in_any_order",
     "struct a { long unsigned a; long long int b; short signed c; unsigned d; char unsigned e;\n"
     "_Bool f; long const int g; };",
     R"(
struct a:
  a: unsigned long
  b: long long
  c: short
  d: unsigned int
  e: unsigned char
  f: bool
  g: long
)"},
    {"bit_fields", "struct a { int x:3, y : 1 + 1; int :5; };", R"(
struct a:
  x: int : 3
  y: int : 2
  : int : 5
)"},
    {"nested",
     "struct a { struct b { int x; } b; union { int c; char d; }; struct { int e; } f; };",
     R"(
struct b:
  x: int
union (unnamed 1):
  c: int
  d: char
struct (unnamed 2):
  e: int
struct a:
  b: struct b
  : union (unnamed 1)
  f: struct (unnamed 2)
)"},
    {"references", "struct a; struct a { struct a *next; enum e kind; union u u; };", R"(
struct a:
  next: struct a *
  kind: enum e
  u: union u
)"},
    {"function_pointers", "struct a { int (*f)(int, void (*)(int)); void *(*g[2])(void); };", R"(
struct a:
  f: void *
  g: void *[2]
)"},
    {"attributes",
     "#define N 4\n"
     "struct a { char c __attribute__((aligned(8))), *d; } __attribute__((packed, aligned(16)));\n"
     "struct __attribute__((packed)) b { __attribute__((aligned(2 * N))) int x, y : 3 "
     "__attribute__((packed)); };\n"
     "struct c { _Alignas(N) int x; int __attribute__((__aligned__)) y; int z __packed; };\n"
     "struct __attribute__((aligned(32))) d { long double x; unsigned __int128 y; float z; } "
     "__attribute__((aligned(4)));\n"
     "struct e { enum { A = 1, B = 0x100000000 } x; };\n"
     "enum f { C = 200 } __attribute__((packed, deprecated(\"no\")));",
     R"(
define N = 4
enum : A=1 B=4294967296
enum f: packed C=200
struct a: packed aligned 16
  c: char aligned 8
  d: char *
struct b: packed
  x: int aligned 8
  y: int : 3 packed aligned 8
struct c:
  x: int aligned 4
  y: int aligned 16
  z: int packed
struct d: aligned 4
  x: long double
  y: unsigned __int128
  z: float
struct e:
  x: unsigned long
)"},
    {"flexible_array", "struct a { int n; char data[]; };", R"(
struct a:
  n: int
  data: char[0]
)"},
    {"constant_lengths",
     "#define N (2 * M)\n#define M 4\nenum { K = 1 << 3, L };\n"
     "struct a { int a[N + 1], b[L], c[sizeof(long)], d[M > 3 ? 1 : 2]; };",
     R"(
define N = (2 * M)
define M = 4
enum : K=8 L=9
struct a:
  a: int[9]
  b: int[9]
  c: int[8]
  d: int[1]
)"},
};

const Case kEnums[] = {
    {"values", "enum e { A, B = 5, C, D = -1, E, F = B | 8, };", R"(
enum e: A=0 B=5 C=6 D=-1 E=0 F=13
)"},
    {"inside_a_struct", "struct a { enum { X, Y } kind; enum k { Z } k; };", R"(
enum : X=0 Y=1
enum k: Z=0
struct a:
  kind: unsigned int
  k: enum k
)"},
};

const Case kDirectives[] = {
    {"includes_and_defines",
     "#include <net/sock.h>\n# define A 1 + 2 // why\n#define F(x) (x)\n#define G (x)\n#define E\n",
     R"(
include <net/sock.h>
define A = 1 + 2
define F() = (x) (x)
define G = (x)
define E = 
)"},
    {"conditions",
     "#ifdef BPFTRACE_HAVE_BTF\n#define A 1\n#else\n#define A 2\n#endif\n"
     "#ifndef A\n#define B 1\n#elif A == 1\n#define B 2\n#else\n#define B 3\n#endif\n"
     "#if 0\n#if 1\n#define C 1\n#endif\nstruct c { int x; };\n#endif\n"
     "#if defined(A) && !defined(C)\n#define D 1\n#endif\n",
     R"(
define A = 1
define B = 2
define D = 1
)"},
    {"undefine", "#define A 1\n#undef A\n#ifdef A\n#define B 1\n#endif\n", "\n"},
    {"defined_again", "#define A 1\n#define A 2\n", R"(
define A = 2
)"},
};

const Case kErrors[] = {
    {"mistake_ends_one_definition_only",
     "struct a { int 5; };\nstruct b { int x };\nstruct c { int x; };", R"(
t.bt:1:16: error: expected the name of a field, found '5'
  1 | struct a { int 5; };
    |                ^
t.bt:2:18: error: expected ';' after this field, found '}'
  2 | struct b { int x };
    |                  ^
struct c:
  x: int
)"},
    {"length_is_not_constant", "struct a { int x[n]; };", R"(
t.bt:1:18: error: the length of an array must be a constant, found 'n'
  1 | struct a { int x[n]; };
    |                  ^
)"},
    {"defines_in_a_circle", "#define A B\n#define B A\nenum { X = A };", R"(
t.bt:3:12: error: the value of an enumerator must be a constant, found 'A'
  3 | enum { X = A };
    |            ^
define A = B
define B = A
)"},
    {"conditions", "#else\n#if x +\n#ifdef\n#frob\n", R"(
t.bt:1:1: error: '#else' without '#if'
  1 | #else
    | ^^^^^
t.bt:2:1: error: this condition is not a constant
  2 | #if x +
    | ^^^^^^^
t.bt:3:1: error: expected a name after '#ifdef'
  3 | #ifdef
    | ^^^^^^
t.bt:2:1: error: this has no '#endif'
  2 | #if x +
    | ^^^^^^^
t.bt:3:1: error: this has no '#endif'
  3 | #ifdef
    | ^^^^^^
)"},
};

TEST(CParser, defines_that_double_do_not_take_forever) {
  Sources sources;
  Diagnostics diagnostics;
  std::string text = "#define A0 1\n";
  for (int i = 1; i < 60; i++)
    text += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + " + A" +
            std::to_string(i - 1) + "\n";
  Ast ast = parse(sources, sources.add("t.bt", text + "enum { X = A59 };"), diagnostics);
  parse_c(ast.c_definitions, {}, diagnostics);
  EXPECT_EQ(diagnostics.all().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(structs, CTable, testing::ValuesIn(kStructs), case_name);
INSTANTIATE_TEST_SUITE_P(enums, CTable, testing::ValuesIn(kEnums), case_name);
INSTANTIATE_TEST_SUITE_P(directives, CTable, testing::ValuesIn(kDirectives), case_name);
INSTANTIATE_TEST_SUITE_P(errors, CTable, testing::ValuesIn(kErrors), case_name);

}  // namespace
}  // namespace flowtap
