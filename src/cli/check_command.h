#pragma once
// flowtap check: what works on this machine, found out by trying.

#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "live/live_target.h"

namespace flowtap {

// One line of the answer. `why` is the reason when it does not work.
struct Verdict {
  std::string name;
  bool works = false;
  std::string why;
};

// Compiles, loads and attaches a script, and lets it go again; none of its probes is run by
// flowtap. The reason why it does not work, or nothing.
std::optional<std::string> try_script(const Script& script, const LiveTarget& target,
                                      CompileOptions options);

// What the kernel has and permits: kinds of probes and maps, sources of names and types.
std::vector<Verdict> check_machine(const LiveTarget& target);

// What cannot be tried, a line each: kernel, rights, lockdown.
std::string describe_rights();

std::string verdicts_text(const std::vector<Verdict>& verdicts, std::string_view heading);
std::string verdicts_json(const std::vector<Verdict>& verdicts, std::string_view type);

}  // namespace flowtap
