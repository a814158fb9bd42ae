#pragma once
// How a probe on a kernel function is made: as what it is called, or as its cheaper or only
// possible relative.

#include <functional>
#include <optional>

#include "bpf/image.h"
#include "builtins/builtins.h"
#include "lang/ast.h"
#include "sema/checked.h"
#include "target/target.h"

namespace flowtap {

// The builtins that a probe mentions, each with the name it was called by.
using BuiltinVisitor = std::function<void(const Builtin& builtin, const std::string& name)>;
void for_each_builtin(const Probe& probe, const BuiltinVisitor& visit);

struct FunctionProbe {
  ProgramType program = ProgramType::Kprobe;
  FunctionSignature signature;
};

// kprobe:f as fentry, which costs a tenth, or fentry:f as kprobe where fentry is refused. Nothing
// when the probe is best left as it is: it would mean something else, or the kernel permits none.
std::optional<FunctionProbe> relative_of(const Probe& probe, const AttachPoint& point,
                                         const Target& target, const CheckOptions& options);

}  // namespace flowtap
