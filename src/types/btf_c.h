#pragma once
// BTF printed as C, with the names that the kernel's source uses (typedefs and all).

#include <cstdint>
#include <string>

#include "types/btf.h"

namespace flowtap {

// "struct file *", "loff_t", "char[16]", "void (*)(int)".
std::string c_type_name(const Btf& btf, uint32_t id);

// A whole struct, union or enum: "struct timespec64 {\n\ttime64_t tv_sec;\n...};".
std::string c_definition(const Btf& btf, uint32_t id);

}  // namespace flowtap
