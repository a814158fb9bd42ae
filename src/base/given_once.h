#pragma once
// GivenOnce: options of a command line that may have one value only. Of two different ones neither
// is surely the one that was meant.

#include <map>
#include <string>

#include "base/result.h"

namespace flowtap {

class GivenOnce {
 public:
  // An error when the option had another value before.
  Status take(const std::string& option, const std::string& value) {
    auto [found, is_first] = values_.emplace(option, value);
    if (is_first || found->second == value) return Done{};
    return Error{"option '" + option + "' is given twice, with '" + found->second + "' and '" +
                 value + "'"};
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace flowtap
