// Demangling, done by the C++ runtime library that is linked in anyway. Ways in: demangle() and
// demangled_matches().
//
// Rust's older scheme borrows that of C++: the library gives "core::fmt::write::h0123456789abcdef",
// of which the last part is a hash, and characters that C++ names cannot hold are spelled
// "$LT$". Rust's newer scheme ("_R...") is read by demangle_rust.cc.
//
// A demangled C++ function has parameters, and only a template instance has a result type:
//   foo::bar(int) const        int max<int>(int, int)        {lambda(int)#1}::operator()(int)

#include "symbols/demangle.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "symbols/demangle_rust.h"

// What __cxa_demangle() is made of: it hands over the text bit by bit. 0: it was read.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the library's own name
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*take)(const char* bit, size_t size, void* to),
                                             void* to);

namespace flowtap {

namespace {

// Names can refer to parts of themselves, so that each further one doubles the text: 400 letters
// are enough for a terabyte.
constexpr size_t kLongestText = 16 << 10, kLongestName = 16 << 10;

struct BoundedText {
  char bytes[kLongestText];
  size_t size = 0;
  jmp_buf too_long;
};

void take_bit(const char* bit, size_t size, void* to) {
  BoundedText& text = *static_cast<BoundedText*>(to);
  // The functions in between are C, with nothing to clean up, and cannot be told to stop.
  if (size > sizeof text.bytes - text.size) std::longjmp(text.too_long, 1);
  std::memcpy(text.bytes + text.size, bit, size);
  text.size += size;
}

// False when it is not mangled, or too long. No object of a class may live here: longjmp(3) skips
// destructors.
bool demangle_into(BoundedText& text, const char* mangled) {
  if (setjmp(text.too_long) != 0) return false;
  return __gcclibcxx_demangle_callback(mangled, &take_bit, &text) == 0;
}

}  // namespace

static std::string demangle_cxx(std::string_view name) {
  std::string mangled(name);
  auto text = std::make_unique_for_overwrite<BoundedText>();
  if (!demangle_into(*text, mangled.c_str())) return mangled;
  return std::string(text->bytes, text->size);
}

std::string demangle(std::string_view name) {
  if (name.size() > kLongestName) return std::string(name);
  if (name.starts_with("_R")) return demangle_rust_v0(name).value_or(std::string(name));
  // Everything else would be taken for a type by the library: "i" is "int" to it.
  if (!name.starts_with("_Z")) return std::string(name);
  std::string text = demangle_cxx(name);
  return is_rust_legacy(text) ? clean_rust_legacy(text) : text;
}

// "foo::bar(int) const" -> "foo::bar"; what has no parameters stays whole.
static std::string_view without_parameters(std::string_view name) {
  size_t close = name.rfind(')');
  if (close == name.npos) return name;
  std::string_view after = name.substr(close + 1);
  if (after.find("::") != after.npos || after.find('>') != after.npos) return name;
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') depth++;
    if (name[i] == '(' && --depth == 0) {
      std::string_view before = name.substr(0, i);
      return before.empty() || before.ends_with("operator") ? name : before;
    }
  }
  return name;
}

// Where the name begins after the result type of "int max<int>", or 0 when there is none.
static size_t after_result_type(std::string_view name) {
  if (!name.ends_with('>')) return 0;
  // "operator<" and its like would upset the counting, and nothing after it is a result type.
  std::string_view counted = name.substr(0, name.find("operator"));
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < counted.size(); i++) {
    char c = counted[i];
    if (c == '<' || c == '(' || c == '{') depth++;
    if (c == '>' || c == ')' || c == '}') depth--;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

static std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

bool demangled_matches(std::string_view mangled, std::string_view wanted) {
  std::string whole = demangle(mangled);
  std::string_view bare = without_parameters(whole);
  size_t begin = after_result_type(bare);
  bool has_parameters = without_parameters(wanted).size() != wanted.size();
  std::string_view name = has_parameters ? std::string_view(whole) : bare;
  std::string pattern = without_blanks(wanted);
  return glob_match(pattern, without_blanks(name)) ||
         (begin > 0 && glob_match(pattern, without_blanks(name.substr(begin))));
}

}  // namespace flowtap
