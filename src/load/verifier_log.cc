// Reading the verifier's log. Way in: read_verifier_log().
//
// The log follows the path that led to the refusal, one line per instruction with states of
// registers in between, then the reason, then a summary:
//
//   0: (b7) r1 = 0                        ; R1_w=0
//   1: (61) r0 = *(u32 *)(r1 +0)
//   R1 invalid mem access 'scalar'
//   processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 ...
//
// Faults of the control flow are found before any path is walked; their reason names the
// instruction itself: "unreachable insn 3".

#include "load/verifier_log.h"

#include <charconv>
#include <vector>

#include "base/text.h"

namespace flowtap {
namespace {

std::optional<uint32_t> leading_number(std::string_view text) {
  uint32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// "12: (79) r1 = ..." but not "12: R0=..." or "from 3 to 12: ...".
std::optional<uint32_t> instruction_of(std::string_view line) {
  size_t colon = line.find(": (");
  if (colon == std::string_view::npos) return std::nullopt;
  std::optional<uint32_t> number = leading_number(line);
  bool is_whole = number && std::to_string(*number).size() == colon;
  return is_whole ? number : std::nullopt;
}

bool is_summary(std::string_view line) {
  return line.starts_with("processed ") || line.starts_with("verification time") ||
         line.starts_with("stack depth");
}

std::optional<uint32_t> named_instruction(std::string_view reason) {
  size_t at = reason.find("insn ");
  return at == std::string_view::npos ? std::nullopt : leading_number(reason.substr(at + 5));
}

}  // namespace

VerifierVerdict read_verifier_log(std::string_view log) {
  VerifierVerdict verdict;
  for (const std::string& line : split(log, '\n')) {
    std::string_view text = trim(line);
    if (text.empty() || is_summary(text)) continue;
    std::optional<uint32_t> insn = instruction_of(text);
    if (insn) verdict.insn = insn;
    verdict.reason = text;
  }
  std::optional<uint32_t> named = named_instruction(verdict.reason);
  if (!verdict.insn) verdict.insn = named;
  return verdict;
}

}  // namespace flowtap
