// Wording only; see left_out.h.

#include "sema/left_out.h"

#include <fmt/format.h>

#include "base/text.h"

namespace flowtap {

std::string why_not_there(const ProbeSiteProblem& problem, bool begins_function) {
  std::string what =
      fmt::format("{} ({})", begins_function ? "its first instruction" : "the instruction there",
                  problem.instruction);
  return problem.changes_program ? what +
                                       " would be executed wrongly by the kernel's uprobes and "
                                       "change the traced program"
                                 : "the kernel's uprobes do not support " + what;
}

static std::string reasons(size_t changing, size_t refused, size_t unknown) {
  if (unknown > 0) {
    std::string these =
        "the dynamic linker chooses the function, and no running process shows which one";
    if (changing + refused == 0) return these;
    return fmt::format("{} ({}); {} ({})", reasons(changing, refused, 0), changing + refused, these,
                       unknown);
  }
  constexpr const char* kChanging =
      "the kernel's uprobes would execute the instruction there wrongly and change the traced "
      "program";
  constexpr const char* kRefused = "the kernel's uprobes do not support the instruction there";
  if (refused == 0) return kChanging;
  if (changing == 0) return kRefused;
  return fmt::format("{} ({}), or do not support it ({})", kChanging, changing, refused);
}

void report_left_out(const std::vector<LeftOut>& places, const LeftOutOf& where,
                     Diagnostics& diagnostics) {
  if (places.empty()) return;
  size_t changing = 0, refused = 0;
  for (const LeftOut& place : places)
    if (place.problem) (place.problem->changes_program ? changing : refused)++;
  std::string why = reasons(changing, refused, places.size() - changing - refused);
  bool is_error = where.left == 0 && !where.may_be_none;
  Diagnostic& report =
      is_error
          ? diagnostics.error(where.span,
                              fmt::format("none of {} of '{}' can be probed: {}",
                                          counted(places.size(), "place"), where.pattern, why))
          : diagnostics.warning(
                where.span, fmt::format("{} of {} of '{}' {} left out: {}", places.size(),
                                        counted(places.size() + where.left, "place"), where.pattern,
                                        places.size() == 1 ? "is" : "are", why));
  if (!where.shows_list) report.with_hint("-v lists them");
  if (!where.shows_list) return;
  for (const LeftOut& place : places)
    report.notes.push_back({kNowhere, fmt::format("'{}': {}", place.name,
                                                  place.problem ? place.problem->instruction
                                                                : "unknown implementation")});
}

}  // namespace flowtap
