#pragma once
// Constants that scripts take from C headers (AF_INET, EINPROGRESS, TCP_ESTABLISHED...), compiled
// in from the kernel's UAPI headers, so that #include lines need no headers where flowtap runs.

#include <cstdint>
#include <optional>
#include <string_view>

namespace flowtap {

struct Constant {
  int64_t value = 0;
  bool is_enumerator = false;  // else a macro
};

std::optional<Constant> find_constant(std::string_view name);

}  // namespace flowtap
