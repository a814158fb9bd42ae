// Parts of scripts; see script_text.h.

#include "generic/script_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace flowtap {

std::string script_head(const GenericLine& line, int64_t string_size) {
  std::string size = string_size ? fmt::format(" max_strlen = {};", string_size) : "";
  return fmt::format("// {}\nconfig = {{ print_maps_on_exit = false;{} }}\n", line.shown, size);
}

std::string per_report(const std::string& map) { return fmt::format("let @{} per report;\n", map); }

std::string predicate(const std::vector<std::string>& conditions) {
  return conditions.empty() ? "" : fmt::format(" /{}/", join(conditions, " && "));
}

std::string report_probe(const GenericLine& line, int64_t interval, const std::string& statements) {
  std::string every = interval ? fmt::format(":{}", interval) : "";
  const char* time = line.has("timestamp") ? "  time(\"%H:%M:%S\\n\");\n" : "";
  return fmt::format("self:report{} {{\n{}{}}}\n", every, time, statements);
}

std::string with_namesakes(bool has_marker,
                           const std::function<std::string(const WriteAttach&)>& write) {
  if (!has_marker) return write(attach_point);
  return fmt::format("plan markers {{\n{}}}\nplan functions {{\n{}}}\n", write(attach_point),
                     write(attach_point_of_namesake));
}

std::string entry_probe(const ProbeSpec& spec, const Expressions& expressions) {
  if (!expressions.needs_entry()) return "";
  std::string body = expressions.uses_latency ? " @start[tid] = nsecs;" : "";
  for (size_t i = 0; i < expressions.entries.size(); i++)
    body += fmt::format(" @entry{}[tid] = {};", i, expressions.entries[i]);
  return fmt::format("{} {{{} }}\n", attach_point_of_entry(spec), body);
}

std::string forget_entry(const Expressions& expressions) {
  std::string out = expressions.uses_latency ? " delete(@start, tid);" : "";
  for (size_t i = 0; i < expressions.entries.size(); i++)
    out += fmt::format(" delete(@entry{}, tid);", i);
  return out;
}

Result<ProbeSpec> only_probe(const GenericLine& line) {
  if (line.words.empty())
    return Error{"no function or event is named", 0,
                 "name one, such as 'tcp_*', t:block:block_rq_issue or c:malloc"};
  if (line.words.size() > 1)
    return Error{fmt::format("one pattern is expected, found '{}' too", line.words[1].text), 0,
                 "put it in quotes, or the shell replaces its '*'"};
  const std::string& text = line.words[0].text;
  // A regular expression may hold what ends a name otherwise.
  if (line.has("regexp")) {
    ProbeSpec spec;
    std::vector<std::string> parts = split(text, ':');
    spec.name = parts.back();
    if (parts.size() > 1) spec.target = parts[parts.size() - 2];
    if (parts.size() == 3 && parts[0] == "t") spec.kind = SpecKind::Event;
    if (parts.size() == 3 && parts[0] == "u") spec.kind = SpecKind::Marker;
    return spec;
  }
  Result<ProbeSpec> spec = parse_probe_spec(text);
  if (!spec) return spec.error();
  if (spec->end < text.size())
    return spec_error(text, spec->end, "only a probe is expected here",
                      "argdist and trace take expressions");
  return spec;
}

std::vector<std::string> common_conditions(const GenericLine& line) {
  std::vector<std::string> conditions;
  for (const char* name : {"tid", "cpu", "uid"})
    if (line.has(name)) conditions.push_back(fmt::format("{} == {}", name, line.number(name)));
  return conditions;
}

}  // namespace flowtap
