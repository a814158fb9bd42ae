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

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "symbols/demangle_rust.h"

namespace flowtap {

static std::string demangle_cxx(std::string_view name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string demangle(std::string_view name) {
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
