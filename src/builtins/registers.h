#pragma once
// Registers of the traced program as reg() and USDT notes name them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flowtap {

// Place in struct pt_regs; "rax", "eax" and "ax" are one register. Nothing for an unknown name.
std::optional<int32_t> register_offset(std::string_view name);
// All of them, for messages: "r15, r14...".
std::string register_names();

}  // namespace flowtap
