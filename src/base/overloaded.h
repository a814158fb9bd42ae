// For std::visit(): picks a function by the type of its argument.

#pragma once

namespace flowtap {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>  // clang 14 does not find this by itself
Overloaded(Functions...)->Overloaded<Functions...>;

}  // namespace flowtap
