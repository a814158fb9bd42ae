// The table of UAPI constants; generate_constants.sh makes it when the project is built.

#include "builtins/constants.h"

#include <algorithm>
#include <iterator>

#include "uapi_constants.h"

namespace flowtap {

std::optional<Constant> find_constant(std::string_view name) {
  auto less = [](const UapiConstant& constant, std::string_view wanted) {
    return constant.name < wanted;
  };
  auto found = std::lower_bound(std::begin(kUapiConstants), std::end(kUapiConstants), name, less);
  if (found == std::end(kUapiConstants) || found->name != name) return std::nullopt;
  return Constant{found->value, found->is_enumerator};
}

}  // namespace flowtap
