// Replacements of kernel functions, asked of the target; see function_hints.h.

#include "sema/function_hints.h"

#include <fmt/format.h>

#include "builtins/replacements.h"

namespace flowtap {

std::string hint_for_function(std::string_view function, const Target& target) {
  return replacement_hint(function, [&](std::string_view kind, std::string_view rest) {
    if (kind == "kprobe") return target.has(Feature::Kprobes) && target.kernel_function("", rest);
    size_t colon = rest.find(':');
    return !target.tracepoints(rest.substr(0, colon), rest.substr(colon + 1)).empty();
  });
}

std::string why_off_path(std::string_view function, const Target& target) {
  const Replacement* row = find_replacement(function);
  if (!row || row->off_path_with.empty()) return {};
  bool is_off = row->off_path_with == "*" || target.kernel_function("", row->off_path_with);
  return is_off ? fmt::format("'{}' {}", function, row->fate) : "";
}

}  // namespace flowtap
