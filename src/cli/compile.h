#pragma once
// The compiler as one function: text in, image out. Opens no file and makes no system call but
// through the two functions it is given.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bpf/image.h"
#include "lower/lower.h"
#include "sema/checked.h"
#include "source/diagnostics.h"
#include "target/target.h"

namespace flowtap {

struct CompileOptions {
  CheckOptions check;
  LowerOptions lower;
  bool shrinks_maps = true;             // those that no program uses
  std::vector<std::string> parameters;  // $1, $2...
  bool defines_btf = true;              // #ifdef BPFTRACE_HAVE_BTF
  std::string plan;                     // one of plan_names(); empty when the script has none
  std::vector<std::string> dump;        // stages to print: tokens ast types ir bpf maps
  std::string added;                    // more script text, from the command line
  std::string filter;  // an expression that probes of the script must fulfil; empty for none
  // Reads what `import "path"` names; the answer is (file name, text) pairs.
  std::function<Result<std::vector<std::pair<std::string, std::string>>>(const std::string& path)>
      import;
};

struct Compiled {
  Image image;
  Config config;
  std::vector<ScriptOption> options;
  std::string dumps;           // what `dump` asked for
  bool has_relatives = false;  // a kprobe became fentry, or the reverse: may be compiled without
};

// The plans of a script and its imports, in order of preference. Empty when there are none, or it
// cannot be parsed.
std::vector<std::string> plan_names(Sources& sources, uint32_t file, const CompileOptions& options);

// The script with its imports, macros expanded and all plans kept, but not checked.
Ast parse_whole(Sources& sources, uint32_t file, const CompileOptions& options,
                Diagnostics& diagnostics);

// Nothing when the script is wrong; diagnostics then say why. Warnings may be there in any case.
std::optional<Compiled> compile(Sources& sources, uint32_t file, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace flowtap
