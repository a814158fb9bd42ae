#pragma once
// Integer literals: from the text of a token to its value.

#include <cstdint>
#include <string>
#include <string_view>

namespace flowtap {

struct IntegerText {
  uint64_t value = 0;
  std::string error;  // empty when the text is a number
  std::string hint;
};

// `text` begins with a digit and holds only digits, letters and '_'.
IntegerText parse_integer_text(std::string_view text);

}  // namespace flowtap
