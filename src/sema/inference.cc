// What all classes of the inference have; see inference.h.

#include "sema/inference.h"

#include <utility>

#include "lang/expand.h"

namespace flowtap {

Diagnostic& Inference::error(Span span, std::string message) {
  Diagnostics& to = walk_.is_last ? input_.diagnostics : walk_.silent;
  return report(to.error(span, std::move(message)));
}

Diagnostic& Inference::warning(Span span, std::string message) {
  Diagnostics& to = walk_.is_last ? input_.diagnostics : walk_.silent;
  return report(to.warning(span, std::move(message)));
}

// Says where the macros were used that a mistake came from.
Diagnostic& Inference::report(Diagnostic& diagnostic) {
  if (walk_.is_last && walk_.current < program_.origins.size())
    add_expansion_notes(diagnostic, input_.ast, program_.origins[walk_.current]);
  return diagnostic;
}

void Inference::set_constant(ExprInfo& result, int64_t value, bool is_unsigned) {
  result.value = value;
  result.is_literal = value >= 0 || is_unsigned;
  bool fits_signed = value >= 0;
  result.type = fits_signed || is_unsigned ? literal_type(static_cast<uint64_t>(value))
                                           : negative_literal_type(value);
}

void Inference::set_typed_constant(ExprInfo& result, int64_t value, const Type& type) {
  int shift = 64 - static_cast<int>(type->size) * 8;
  uint64_t high = static_cast<uint64_t>(value) << shift;
  result.value =
      type->is_signed ? static_cast<int64_t>(high) >> shift : static_cast<int64_t>(high >> shift);
  result.type = type;
  result.is_cast = true;
}

}  // namespace flowtap
