#pragma once
// Expansion: after it, a tree holds no macro calls, no names of #defines and no positional
// parameters, only what they stand for.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lang/ast.h"
#include "lang/c_parser.h"
#include "source/diagnostics.h"

namespace flowtap {

// The words that follow the script on the command line: values[0] is $1.
struct Parameters {
  std::vector<std::string> values;
};

// Rewrites the probes of `ast`; the macros themselves stay as they were written. Imported trees
// must have been merged in before. Local variables of a macro are renamed to `name#N`, which no
// script can write.
void expand(Ast& ast, std::span<const CDefine> defines, const Parameters& parameters,
            Diagnostics& diagnostics);

// Adds to a message about expression `id` where the macros were used that it came from.
void add_expansion_notes(Diagnostic& diagnostic, const Ast& ast, uint32_t id);

// Whether the expression came from a macro, which may be used with values of other types elsewhere.
bool is_expanded(const Ast& ast, uint32_t id);

// The two halves of expand(), in this order: a parameter may be an argument of a macro.
void expand_macros(Ast& ast, std::span<const CDefine> defines, Diagnostics& diagnostics);
void expand_parameters(Ast& ast, const Parameters& parameters, Diagnostics& diagnostics);

// A name in a message: without the mark that expansion adds to local variables of macros.
std::string written_name(const std::string& variable);

}  // namespace flowtap
