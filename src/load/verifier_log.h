#pragma once
// What the verifier wrote when it refused a program, boiled down.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flowtap {

struct VerifierVerdict {
  std::string reason;            // its last word: "R1 invalid mem access 'scalar'"
  std::optional<uint32_t> insn;  // where it was
};

VerifierVerdict read_verifier_log(std::string_view log);

}  // namespace flowtap
