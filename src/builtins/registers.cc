// The layout of struct pt_regs on x86-64: the context of kprobes, uprobes and perf events.
// Ways in: register_offset(), register_names().

#include "builtins/registers.h"

namespace flowtap {
namespace {

struct RegisterPlace {
  const char* name;
  int32_t offset;
};
constexpr RegisterPlace kRegisters[] = {
    {"r15", 0},     {"r14", 8},  {"r13", 16}, {"r12", 24},      {"bp", 32},  {"bx", 40},
    {"r11", 48},    {"r10", 56}, {"r9", 64},  {"r8", 72},       {"ax", 80},  {"cx", 88},
    {"dx", 96},     {"si", 104}, {"di", 112}, {"orig_ax", 120}, {"ip", 128}, {"cs", 136},
    {"flags", 144}, {"sp", 152}, {"ss", 160}};

}  // namespace

std::optional<int32_t> register_offset(std::string_view name) {
  bool has_prefix =
      name.size() == 3 && (name[0] == 'r' || name[0] == 'e') && (name[1] < '0' || name[1] > '9');
  if (has_prefix) name.remove_prefix(1);
  for (const RegisterPlace& place : kRegisters)
    if (name == place.name) return place.offset;
  return std::nullopt;
}

std::string register_names() {
  std::string out;
  for (const RegisterPlace& place : kRegisters) {
    if (!out.empty()) out += ", ";
    out += place.name;
  }
  return out;
}

}  // namespace flowtap
