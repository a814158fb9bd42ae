#pragma once
// The two ways in which Rust mangles names.

#include <optional>
#include <string>
#include <string_view>

namespace flowtap {

// The older scheme, already demangled as C++: does it end in "::h" and 16 hex digits?
bool is_rust_legacy(std::string_view demangled);
// "_$LT$T$u20$as$u20$Show$GT$::show::h0123456789abcdef" -> "<T as Show>::show"
std::string clean_rust_legacy(std::string_view demangled);

// The newer scheme: "_RNvCs1234_7mycrate3foo" -> "mycrate::foo". Nothing for what is not one.
std::optional<std::string> demangle_rust_v0(std::string_view mangled);

}  // namespace flowtap
