#pragma once
// Places of user programs that a wildcard leaves out, since a uprobe there would fail or change the
// program.

#include <optional>
#include <string>
#include <vector>

#include "arch/probe_site.h"
#include "source/diagnostics.h"

namespace flowtap {

struct LeftOut {
  std::string name;                         // of the attach point
  std::optional<ProbeSiteProblem> problem;  // none: which implementation processes use is unknown
};

// What is wrong with a place, as the end of a sentence. The place is a function's beginning or not.
std::string why_not_there(const ProbeSiteProblem& problem, bool begins_function);

// One message about all: a warning when others are left, an error when there are none. The list
// itself is long, so that it is asked for.
struct LeftOutOf {
  std::string pattern;  // as it was written
  size_t left = 0;      // places that are not left out
  bool may_be_none = false;
  bool shows_list = false;
  Span span;
};
void report_left_out(const std::vector<LeftOut>& places, const LeftOutOf& where,
                     Diagnostics& diagnostics);

}  // namespace flowtap
