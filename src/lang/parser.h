#pragma once
// The parser: script text to syntax tree.

#include <cstdint>
#include <functional>
#include <string_view>

#include "lang/ast.h"
#include "source/diagnostics.h"
#include "source/source.h"

namespace flowtap {

struct ParseOptions {
  // Tells the names of builtins, which decide whether `(name)*x` multiplies or casts.
  // When empty, no name is taken for a builtin.
  std::function<bool(std::string_view)> is_builtin;
  // The first Expr::id to hand out. Trees that will be merged into one program (imports) must
  // not share ids: give each the `next_id` of the tree before it.
  uint32_t first_id = 1;
};

// Reports every mistake it can find in one go. The tree is complete only if there were none, but
// it can be printed and destroyed in any case.
Ast parse(const Sources& sources, uint32_t file, Diagnostics& diagnostics,
          const ParseOptions& options = {});

// A text that must be one whole expression, such as the replacement text of a `#define`. It was
// found at `origin`, and the spans of the tree are places there. Null if it is no expression.
ExprPtr parse_expression(std::string_view text, Span origin, uint32_t& next_id,
                         Diagnostics& diagnostics, const ParseOptions& options = {});

}  // namespace flowtap
