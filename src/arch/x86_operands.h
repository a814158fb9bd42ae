#pragma once
// The argument strings of USDT notes, as gcc and clang write operands for x86.

#include "arch/arch.h"

namespace flowtap {

// "-4@8(%rbp) 8@%rax"
std::vector<UsdtArgument> x86_usdt_arguments(std::string_view text,
                                             const UsdtOperandContext& context);

}  // namespace flowtap
