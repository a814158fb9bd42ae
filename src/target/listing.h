#pragma once
// The text of verbose listings (-lv): what a probe's arguments are, and what a type looks like.

#include <string>
#include <string_view>

#include "target/target.h"

namespace flowtap {

// One argument per line, indented, as C declarations: "    const char * filename\n".
std::string list_arguments(const TracepointFormat& format);
// With the result as a last line, "    ssize_t retval\n", when a probe can see it.
enum class ShowResult : bool { No, Yes };
std::string list_arguments(const FunctionSignature& signature, ShowResult show);

// Each type that matches a glob, "struct timespec*": its name on a line, or when verbose its
// definition in C and an empty line. Empty when there is no such type.
std::string list_types(const Target& target, std::string_view pattern, bool is_verbose);

// The pattern asks for types and not for probes: it begins with struct, union or enum.
bool is_type_pattern(std::string_view pattern);

// "vmlinux" for those of the kernel itself, and where types do not tell.
std::string module_of_raw_tracepoint(const Target& target, std::string_view event);

}  // namespace flowtap
