#pragma once
// What BTF says of kernel functions, raw tracepoints and iterators, as FunctionSignatures.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/target.h"
#include "types/btf_types.h"

namespace flowtap {

// Nothing when this BTF does not know the name. `module` is left empty for the caller to fill in.
std::optional<FunctionSignature> function_signature(const BtfTypes& types, std::string_view name);
FunctionSignature function_signature(const BtfTypes& types, uint32_t id);
std::optional<FunctionSignature> raw_tracepoint_signature(const BtfTypes& types,
                                                          std::string_view event);
// The arguments are the members of the iterator's context, at their offsets in it.
std::optional<FunctionSignature> iterator_signature(const BtfTypes& types, std::string_view name);

// The names in this BTF that match a glob, in no order.
std::vector<std::string> function_names(const Btf& btf, std::string_view pattern);
std::vector<std::string> raw_tracepoint_names(const Btf& btf, std::string_view pattern);
std::vector<std::string> iterator_names(const Btf& btf);
// "struct x", "union x", "enum x".
std::vector<std::string> type_names(const Btf& btf, std::string_view pattern);

// One of those in C, without the line's end; empty when this BTF does not have it.
std::string type_text(const Btf& btf, std::string_view name);

}  // namespace flowtap
