#pragma once
// Constant expressions in C definitions: array lengths, widths of bit fields, values of
// enumerators, conditions of #if.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lang/ast.h"

namespace flowtap {

// What a name stands for; nothing if it stands for no constant.
using ConstantLookup = std::function<std::optional<int64_t>(const std::string& name)>;

// The value, or nothing if the expression is not constant, divides by zero or shifts too far.
// `defined(NAME)` asks `is_defined`, which may be empty.
struct ConstantContext {
  ConstantLookup lookup;
  std::function<bool(const std::string& name)> is_defined;
};
std::optional<int64_t> evaluate_constant(const Expr& expr, const ConstantContext& context);

// The size of a C type that needs no layout: integers and pointers.
std::optional<int64_t> plain_size(const TypeSpec& type);

}  // namespace flowtap
