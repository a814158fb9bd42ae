// Expansion, its way in and what later stages ask about it; see expand.h. The work is done in
// expand_macros.cc and expand_parameters.cc.

#include "lang/expand.h"

#include <fmt/format.h>

namespace flowtap {

void expand(Ast& ast, std::span<const CDefine> defines, const Parameters& parameters,
            Diagnostics& diagnostics) {
  expand_macros(ast, defines, diagnostics);
  expand_parameters(ast, parameters, diagnostics);
}

void add_expansion_notes(Diagnostic& diagnostic, const Ast& ast, uint32_t id) {
  if (!diagnostic.notes.empty()) return;
  for (const Expansion& expansion : ast.expansions)
    if (id >= expansion.first_id && id < expansion.end_id)
      diagnostic.with_note(expansion.use, fmt::format("expanded from '{}' here", expansion.name));
}

bool is_expanded(const Ast& ast, uint32_t id) {
  for (const Expansion& expansion : ast.expansions)
    if (id >= expansion.first_id && id < expansion.end_id) return true;
  return false;
}

std::string written_name(const std::string& variable) {
  return variable.substr(0, variable.find('#'));
}

}  // namespace flowtap
