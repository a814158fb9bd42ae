// Script text -> syntax tree, with macros, defines and parameters put in. A tree can be printed and
// copied however wrong the text was.

#include "lang/parser.h"

#include "lang/c_parser.h"
#include "lang/clone.h"
#include "lang/expand.h"
#include "lang/printer.h"
#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast =
      parse(sources, sources.add("fuzz.bt", std::string(fuzz::text_of(data, size))), diagnostics);
  print_ast(ast);
  CDeclarations declarations = parse_c(ast.c_definitions, {}, diagnostics);
  expand(ast, declarations.defines, {{"42", "hello"}}, diagnostics);
  print_ast(ast);
  for (const Probe& probe : ast.probes) clone(probe.body, ast.next_id);
  fuzz::render_some(diagnostics, sources);
  return 0;
}
