// Lookups in the tables of processors; see arch.h.

#include "arch/arch.h"

#include "arch/processors.h"

namespace flowtap {

std::optional<RegisterPart> Arch::find_register(std::string_view register_name) const {
  if (register_name.empty()) return std::nullopt;
  for (const Register& row : registers) {
    for (size_t i = 0; i < row.parts.size(); i++)
      if (row.parts[i] == register_name) return RegisterPart{&row, 8u >> i};
    if (row.name == register_name) return RegisterPart{&row};
  }
  return std::nullopt;
}

std::optional<int32_t> Arch::register_offset(std::string_view register_name) const {
  std::optional<RegisterPart> found = find_register(register_name);
  if (!found || found->bytes < 2) return std::nullopt;
  return found->whole->offset;
}

std::string Arch::register_names() const {
  std::string out;
  for (const Register& row : registers) {
    if (!out.empty()) out += ", ";
    out += row.name;
  }
  return out;
}

const Arch& host_arch() {
#if defined(__x86_64__)
  return kX86_64;
#else
#error "there is no table for this processor: see arch/arch.h"
#endif
}

const Arch* find_arch(std::string_view name) {
  for (const Arch* arch : {&kX86_64})
    if (arch->name == name) return arch;
  return nullptr;
}

}  // namespace flowtap
