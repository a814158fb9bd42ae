#pragma once
// A script that was parsed: once, with all that it imports and its macros expanded. Descriptions of
// tools, lists of plans and every compilation share this value. Opens no file by itself.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lang/ast.h"
#include "lang/c_parser.h"
#include "source/diagnostics.h"
#include "source/source.h"

namespace flowtap {

// Reads what `import "path"` names; the answer is (file name, text) pairs.
using ReadImport = std::function<Result<std::vector<std::pair<std::string, std::string>>>(
    const std::string& path)>;

struct ScriptText {
  std::string name;  // as messages show it
  std::string text;
  std::vector<std::string> parameters = {};  // $1, $2...
  ReadImport import = {};                    // empty: imports are not possible
};

struct Script {
  Sources sources;             // the script itself is file 0
  Ast ast;                     // of all plans; no macro, #define or positional parameter is left
  CDeclarations declarations;  // of its C definitions
  Diagnostics diagnostics;     // those about one plan only are marked with it

  // Not inline: they are long, and needed in several places.
  Script();
  Script(Script&&) noexcept;
  Script& operator=(Script&&) noexcept;
  ~Script();
};

Script parse_script(const ScriptText& text);

// What the command line adds: more definitions and probes, and a condition that probes must meet.
void add_text(Script& script, const std::string& text);
void add_filter(Script& script, const std::string& condition);

// In order of preference; one without a name when the script has no plans.
std::vector<std::string> plan_names(const Script& script);

// The first error as one line, with its place in the script.
std::string first_error(const Diagnostics& diagnostics, const Sources& sources);

}  // namespace flowtap
