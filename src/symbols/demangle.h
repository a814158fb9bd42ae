#pragma once
// From the names that compilers give to C++ and Rust functions back to those in the source.

#include <string>
#include <string_view>

namespace flowtap {

// "_ZN3foo3barEi" -> "foo::bar(int)". A name that is not mangled comes back as it is.
std::string demangle(std::string_view name);

// Does a script's `wanted` name the function `mangled`? With a parameter list it must be the whole
// demangled name; without one ("foo::bar", "max<int>") any parameters and result will do. '*'
// stands for any run of characters, and blanks do not count.
bool demangled_matches(std::string_view mangled, std::string_view wanted);

}  // namespace flowtap
