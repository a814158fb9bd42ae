#pragma once
// Calls of builtins whose value is known when the script is compiled, and options of the script.

#include "sema/infer_arguments.h"
#include "sema/inference.h"

namespace flowtap {

class FoldedCalls : private Inference {
 public:
  FoldedCalls(const Inference& base, Arguments& arguments)
      : Inference(base), arguments_(arguments) {}
  // True when nothing is left to be found out; else the value may be known, but not the type.
  bool infer_folded(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                    ExprInfo& info);

 private:
  Type getopt_type(const Expr& expr, const std::vector<ExprPtr>& args, ExprInfo& info);
  std::string fail_message(const std::vector<ExprPtr>& args);

  Arguments& arguments_;
};

// What `probetype` reads: probes that are no event of the kernel share one name.
std::string_view probe_type_name(ProbeKind kind);

}  // namespace flowtap
