#pragma once
// What the scripts of the generic tools have in common.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generic/expression.h"
#include "generic/generic.h"

namespace flowtap {

// The comment that says where the script comes from, and its settings.
std::string script_head(const GenericLine& line, int64_t string_size = 0);

// The declaration of a map that each report shows and empties.
std::string per_report(const std::string& map);

// " /a && b/", or nothing.
std::string predicate(const std::vector<std::string>& conditions);

// A probe that shows what was gathered: every so many seconds, and at the end.
std::string report_probe(const GenericLine& line, int64_t interval, const std::string& statements);

// What a specification calls a marker may be a function of that name: then the script has two
// plans, of which the first that exists is used. `write` gets how to write attach points.
using WriteAttach = std::function<std::string(const ProbeSpec& spec)>;
std::string with_namesakes(bool has_marker,
                           const std::function<std::string(const WriteAttach&)>& write);

// The probe at entry that keeps what a return asks for, and what the return does afterwards.
std::string entry_probe(const ProbeSpec& spec, const Expressions& expressions);
std::string forget_entry(const Expressions& expressions);

// The only specification of a command line.
Result<ProbeSpec> only_probe(const GenericLine& line);

// Conditions that every generic tool may have: -t/--tid, --cpu, --uid.
std::vector<std::string> common_conditions(const GenericLine& line);

}  // namespace flowtap
