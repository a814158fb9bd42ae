// Asking the running kernel for replacements of functions; see replacement.h.

#include "kernel/replacement.h"

#include "builtins/replacements.h"
#include "kernel/perf_event.h"
#include "kernel/tracefs.h"
#include "symbols/kallsyms.h"

namespace flowtap {

static bool has_probe(std::string_view kind, std::string_view rest) {
  if (kind == "kprobe")
    return perf_source_type("kprobe") &&
           !KernelSymbols().addresses_of({std::string(rest)})[0].empty();
  Result<Tracefs> tracefs = Tracefs::find();
  size_t colon = rest.find(':');
  return tracefs && !tracefs->events(rest.substr(0, colon), rest.substr(colon + 1)).empty();
}

std::string hint_for_function(const std::string& function) {
  return replacement_hint(function, has_probe);
}

}  // namespace flowtap
