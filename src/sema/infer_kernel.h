#pragma once
// Builtins that reach into the kernel or the traced program by special means.

#include "sema/infer_arguments.h"
#include "sema/infer_types.h"
#include "sema/inference.h"

namespace flowtap {

class KernelFunctions : private Inference {
 public:
  KernelFunctions(const Inference& base, Arguments& arguments, WrittenTypes& types)
      : Inference(base), arguments_(arguments), types_(types) {}
  Type container_type(const std::vector<ExprPtr>& args);
  Type path_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type percpu_type(const std::vector<ExprPtr>& args);
  Type uaddr_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type skboutput_type(const std::vector<ExprPtr>& args);
  void check_override(const Expr& expr, const std::vector<ExprPtr>& args);
  void check_write_user(const Expr& expr, const std::vector<ExprPtr>& args);

 private:
  std::optional<uint32_t> member_offset(Type type, const std::vector<std::string>& path);

  Arguments& arguments_;
  WrittenTypes& types_;
};

}  // namespace flowtap
