#pragma once
// The body of a macro as one call of it makes it: parameters replaced, local variables renamed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lang/ast.h"

namespace flowtap {

struct MacroUse {
  const Macro& macro;
  const std::vector<MapDecl>& declared;  // those of the macro's own file are its too
  std::vector<ExprPtr>& args;  // as many as there are parameters, of fitting kinds; used up
  uint32_t number = 0;         // different for every use
  uint32_t& next_id;
  uint32_t limit = 0;  // for next_id: arguments are not copied beyond it
  std::function<void(Span, std::string message, std::string hint)> error;
};

Block instantiate(const MacroUse& use);

}  // namespace flowtap
