#pragma once
// Functions of the BPF programs of the running kernel, and their signatures.

#include <string>
#include <string_view>
#include <vector>

#include "live/live_types.h"
#include "target/target.h"

namespace flowtap {

Result<std::vector<BpfFunction>> find_bpf_functions(LiveTypes& types, std::string_view program,
                                                    std::string_view function);
// `module` is "bpf:ID".
Result<FunctionSignature> bpf_signature(LiveTypes& types, const std::string& module,
                                        std::string_view function);

}  // namespace flowtap
