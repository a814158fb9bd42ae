// Wording only; see left_out.h.

#include "sema/left_out.h"

#include <fmt/format.h>

#include <algorithm>

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

static std::string reasons(size_t changing, size_t refused) {
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
  auto changes = [](const LeftOut& place) { return place.problem.changes_program; };
  auto changing = static_cast<size_t>(std::count_if(places.begin(), places.end(), changes));
  std::string why = reasons(changing, places.size() - changing);
  bool is_error = where.left == 0 && !where.may_be_none;
  Diagnostic& report =
      is_error
          ? diagnostics.error(where.span,
                              fmt::format("none of the {} places of '{}' can be probed: {}",
                                          places.size(), where.pattern, why))
          : diagnostics.warning(
                where.span, fmt::format("{} of {} places of '{}' are left out: {}", places.size(),
                                        places.size() + where.left, where.pattern, why));
  if (!where.shows_list) report.with_hint("-v lists them");
  if (!where.shows_list) return;
  for (const LeftOut& place : places)
    report.notes.push_back(
        {kNowhere, fmt::format("'{}': {}", place.name, place.problem.instruction)});
}

}  // namespace flowtap
