#pragma once
// Which x86 instructions a uprobe must not be put on.
//
// The kernel replaces the instruction by a breakpoint. Who meets it executes a copy elsewhere, or
// the kernel does by itself what the instruction would have done, if it takes it for a jump, a
// call, a push or a nop. arch/x86/kernel/uprobes.c tells by the opcode and forgets the encoding:
// `vpcmpeqb` has the opcode of `je`. From 6.1 to 6.18, and in the newest source that we know, this
// is so; tests/uprobe_sites.py tries it on the running kernel.
//
// Since 6.18 the kernel makes a `nop` of 5 bytes a call when it was met once. The call writes below
// the stack pointer, where a function that calls no other may keep its variables (the red zone).
// Where a function begins there is nothing yet.

#include <optional>

#include "arch/probe_site.h"

namespace flowtap {

// Nothing when a uprobe does no harm there, and when the bytes are too few to tell.
std::optional<ProbeSiteProblem> x86_probe_site_problem(const ProbeSite& site);

}  // namespace flowtap
