#pragma once
// Names -> numbers: every $variable gets an entry in CheckedProgram::variables and every @map one
// in CheckedProgram::maps, following the scopes of the language.

#include "sema/checked.h"

namespace flowtap {

void resolve_names(Instance& instance, const Ast& ast, CheckedProgram& program,
                   Diagnostics& diagnostics);

}  // namespace flowtap
