// Finding builtins by name; see builtins.h.

#include "builtins/builtins.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace flowtap {

int argument_number(std::string_view name) {
  if (name.size() < 4 || name.size() > 5 || name.substr(0, 3) != "arg") return -1;
  std::optional<int64_t> number = parse_number(name.substr(3));
  bool has_leading_zero = name.size() == 5 && name[3] == '0';
  return number && *number >= 0 && !has_leading_zero ? static_cast<int>(*number) : -1;
}

const Builtin* find_builtin(std::string_view name) {
  static const std::unordered_map<std::string_view, const Builtin*> by_name = [] {
    std::unordered_map<std::string_view, const Builtin*> map;
    for (const Builtin& builtin : kBuiltins) map.emplace(builtin.name, &builtin);
    return map;
  }();
  auto found = by_name.find(argument_number(name) >= 0 ? "arg0" : name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace flowtap
