// What the verifier would refuse in any form; see codegen.h.

#include <fmt/format.h>
#include <linux/bpf.h>

#include <set>

#include "codegen/codegen.h"

namespace flowtap::codegen {

// It goes on where a condition does not hold, to the end, and remembers the other way of each.
static size_t choices_in_a_row(const std::vector<bpf::Insn>& insns) {
  size_t choices = 0;
  for (size_t at = 0; at < insns.size(); at++) {
    uint8_t kind = BPF_CLASS(insns[at].code), op = BPF_OP(insns[at].code);
    if (kind != BPF_JMP && kind != BPF_JMP32) continue;
    if (op == BPF_EXIT) break;
    if (op == BPF_JA)
      at += static_cast<size_t>(insns[at].off);
    else if (op != BPF_CALL)
      choices++;
  }
  return choices;
}

Status check_limits(const Program& code) {
  constexpr size_t kMostInstructions = 1'000'000, kMostMaps = 64, kMostChoices = 8192;
  auto too_much = [](size_t most, const char* what) {
    return Error{
        fmt::format("this probe needs more than {} {}, and the kernel allows no more in "
                    "one program",
                    most, what)};
  };
  if (code.insns.size() > kMostInstructions) return too_much(kMostInstructions, "instructions");
  std::set<int> maps;
  for (const Relocation& relocation : code.relocations)
    if (relocation.map >= 0) maps.insert(relocation.map);
  if (maps.size() > kMostMaps) return too_much(kMostMaps, "maps");
  if (choices_in_a_row(code.insns) > kMostChoices)
    return too_much(kMostChoices, "choices in a row");
  return Done{};
}

}  // namespace flowtap::codegen
