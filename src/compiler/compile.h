#pragma once
// The compiler as one function: script in, image out. Makes no system call; what it must know of
// the machine it asks the target.

#include <optional>
#include <string>
#include <vector>

#include "bpf/image.h"
#include "compiler/script.h"
#include "lower/lower.h"
#include "sema/checked.h"
#include "target/target.h"

namespace flowtap {

struct CompileOptions {
  CheckOptions check;
  LowerOptions lower;
  std::string plan;               // one of plan_names(); empty when the script has none
  std::vector<std::string> dump;  // stages to print: tokens ast types ir bpf maps
};

struct Compiled {
  Image image;  // final: nothing after the compiler changes it
  Config config;
  std::vector<ScriptOption> options;
  std::string dumps;           // what `dump` asked for
  bool has_relatives = false;  // a kprobe became fentry, or the reverse: may be compiled without
};

// Nothing when the script is wrong; diagnostics then say why, those of parsing first. Warnings may
// be there in any case.
std::optional<Compiled> compile(const Script& script, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace flowtap
