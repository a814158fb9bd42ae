#pragma once
// The plot declaration of a script.

#include "sema/checked.h"
#include "source/diagnostics.h"

namespace flowtap {

// Types must be known. Nothing when the script has no plot, or a wrong one, which is reported.
std::optional<PlotSpec> check_plot_declaration(const Ast& ast, const CheckedProgram& program,
                                               Diagnostics& diagnostics);

}  // namespace flowtap
