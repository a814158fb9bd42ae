#pragma once
// What arguments of builtins must be: types, what must be known at compile time, and ranges.

#include "sema/inference.h"

namespace flowtap {

class Arguments : private Inference {
 public:
  explicit Arguments(const Inference& base) : Inference(base) {}
  void check_condition(const Expr& condition);
  bool expect_integer(const Expr& arg, std::string_view function);
  bool expect_address(const Expr& arg, std::string_view function);
  bool expect_string(const Expr& arg, std::string_view function);
  bool expect_within(const Expr& arg, const std::string& what, int64_t low, int64_t high);
  std::optional<uint64_t> expect_length(const Expr& arg, std::string_view function, uint64_t most);
  std::optional<std::string> expect_literal_text(const Expr& arg, std::string_view function);
  std::optional<int64_t> expect_literal_number(const Expr& arg, std::string_view function);
  bool expect_bytes(const Expr& arg, std::string_view function);
  bool points_to(const Type& type, std::string_view name) const;
};

}  // namespace flowtap
