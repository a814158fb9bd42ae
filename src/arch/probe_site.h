#pragma once
// What is wrong with an instruction as a place for a uprobe.

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace flowtap {

struct ProbeSite {
  Bytes code;  // from the instruction on, as much as there is of it
  uint16_t elf_machine = 0;
  bool begins_function = true;
  bool kernel_calls_long_nops = false;  // since Linux 6.18, see x86_probe_site.h
};

struct ProbeSiteProblem {
  // The kernel attaches there, and the program then does something else than without the uprobe.
  // Otherwise the kernel refuses the place: at once when a process has the file mapped, and in
  // silence when one maps it later.
  bool changes_program = false;
  std::string instruction;  // "vpcmpeqb, EVEX-encoded"

  bool operator==(const ProbeSiteProblem&) const = default;
};

}  // namespace flowtap
