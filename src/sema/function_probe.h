#pragma once
// How a probe on a kernel function is made: as what it is called, or as its cheaper or only
// possible relative.

#include <optional>

#include "bpf/image.h"
#include "lang/ast.h"
#include "sema/checked.h"
#include "target/target.h"

namespace flowtap {

struct FunctionProbe {
  ProgramType program = ProgramType::Kprobe;
  FunctionSignature signature;
};

// kprobe:f as fentry, which costs a tenth, or fentry:f as kprobe where fentry is refused. Nothing
// when the probe is best left as it is: it would mean something else, or the kernel permits none.
std::optional<FunctionProbe> relative_of(const Probe& probe, const AttachPoint& point,
                                         const Target& target, const CheckOptions& options);

}  // namespace flowtap
