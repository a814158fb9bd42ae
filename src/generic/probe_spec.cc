// Reading probe specifications; see probe_spec.h. Way in: parse_probe_spec().

#include "generic/probe_spec.h"

#include <fmt/format.h>

#include "base/text.h"

namespace flowtap {

Error spec_error(std::string_view text, size_t at, std::string message, std::string hint) {
  return Error{fmt::format("{}\n  {}\n  {}^", message, text, std::string(at, ' ')), 0,
               std::move(hint)};
}

size_t find_outside(std::string_view text, std::string_view wanted, size_t from) {
  int depth = 0;
  char quote = 0;
  for (size_t i = from; i < text.size(); i++) {
    char c = text[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (depth == 0 && wanted.find(c) != wanted.npos) return i;
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[') depth++;
    if ((c == ')' || c == ']') && depth > 0) depth--;
  }
  return text.size();
}

namespace {

constexpr std::string_view kForms =
    "write FUNCTION, LIBRARY:FUNCTION, p:[LIBRARY]:FUNCTION, r:[LIBRARY]:FUNCTION, "
    "t:CATEGORY:EVENT or u:BINARY:MARKER";

bool is_name_char(char c) {
  bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_letter || std::string_view("_.*+@$").find(c) != std::string_view::npos;
}

std::optional<SpecKind> kind_of(std::string_view word) {
  if (word == "p" || word.empty()) return SpecKind::Function;
  if (word == "r") return SpecKind::Return;
  if (word == "t") return SpecKind::Event;
  if (word == "u") return SpecKind::Marker;
  return std::nullopt;
}

// "struct sock *sk" -> its type and its name. A type without a name is a parameter that is not
// used.
Parameter parse_parameter(std::string_view text) {
  text = trim(text);
  size_t at = text.size();
  while (at > 0 && text[at - 1] != '.' && is_name_char(text[at - 1]) && text[at - 1] != '*') at--;
  std::string_view type = trim(text.substr(0, at));
  bool is_only_type = type.empty() || type == "struct" || type == "unsigned" || type == "const";
  if (is_only_type) return {std::string(text), ""};
  return {std::string(type), std::string(text.substr(at))};
}

Status parse_signature(std::string_view text, ProbeSpec& spec) {
  size_t open = spec.end;
  size_t close = find_outside(text, ")", open + 1);
  if (close == text.size())
    return spec_error(text, open, "there is no ')' for this '('",
                      "a signature is written as (struct sock *sk, size_t size), or ()");
  std::string_view inside = text.substr(open + 1, close - open - 1);
  if (!trim(inside).empty())
    for (const std::string& part : split(inside, ','))
      spec.parameters.push_back(parse_parameter(part));
  spec.end = close + 1;
  return Done{};
}

}  // namespace

Result<ProbeSpec> parse_probe_spec(std::string_view text) {
  ProbeSpec spec;
  spec.end = text.find_first_of("( \t\"");
  if (spec.end == text.npos) spec.end = text.size();
  std::string_view head = text.substr(0, spec.end);
  std::vector<std::string> parts = split(head, ':');
  if (head.empty())
    return spec_error(text, 0, "no function or event is named", std::string(kForms));
  // argdist goes on with ':' behind the signature, so that a head has three parts at most.
  if (parts.size() > 3)
    return spec_error(text, parts[0].size() + parts[1].size() + parts[2].size() + 2,
                      "a probe has at most three parts", std::string(kForms));
  if (parts.size() == 3) {
    std::optional<SpecKind> kind = kind_of(parts[0]);
    if (!kind)
      return spec_error(text, 0, fmt::format("'{}' is not a kind of probe", parts[0]),
                        "the kinds are p (function), r (return), t (tracepoint) and u (marker)");
    spec.kind = *kind;
  }
  spec.name = parts.back();
  if (parts.size() > 1) spec.target = parts[parts.size() - 2];
  size_t name_at = spec.end - spec.name.size();
  if (parts.size() == 2 && spec.target.size() == 1 && spec.target != "c" && kind_of(spec.target))
    return spec_error(text, 0, fmt::format("'{}:' needs one part more", spec.target),
                      spec.target == "p" || spec.target == "r"
                          ? fmt::format("a kernel function is '{}::{}'", spec.target, spec.name)
                          : std::string(kForms));
  bool needs_target = spec.kind == SpecKind::Event || spec.kind == SpecKind::Marker;
  if (needs_target && spec.target.empty())
    return spec_error(text, 2,
                      spec.kind == SpecKind::Event ? "the category of the event is missing"
                                                   : "the binary of the marker is missing",
                      std::string(kForms));
  if (spec.name.empty())
    return spec_error(text, name_at, "no function or event is named", std::string(kForms));
  if (spec.end < text.size() && text[spec.end] == '(')
    if (Status status = parse_signature(text, spec); !status) return status.error();
  return spec;
}

// --- in a script ------------------------------------------------------------------------------
static std::string function_point(const ProbeSpec& spec, std::string_view suffix) {
  return spec.target.empty() ? fmt::format("k{}:{}", suffix, spec.name)
                             : fmt::format("u{}:{}:{}", suffix, spec.target, spec.name);
}

std::string attach_point_of_entry(const ProbeSpec& spec) { return function_point(spec, "probe"); }
std::string attach_point_of_return(const ProbeSpec& spec) {
  return function_point(spec, "retprobe");
}

std::string attach_point_of_namesake(const ProbeSpec& spec) {
  return spec.kind == SpecKind::Marker ? attach_point_of_entry(spec) : attach_point(spec);
}

std::string attach_point(const ProbeSpec& spec) {
  switch (spec.kind) {
    case SpecKind::Function: return attach_point_of_entry(spec);
    case SpecKind::Return: return attach_point_of_return(spec);
    case SpecKind::Event: return fmt::format("tracepoint:{}:{}", spec.target, spec.name);
    case SpecKind::Marker: return fmt::format("usdt:{}:{}", spec.target, spec.name);
  }
  return {};
}

std::string take_regexp(ProbeSpec& spec) {
  std::string pattern = spec.name;
  spec.name = "*";
  bool is_anchored = pattern.starts_with("^");
  return fmt::format("^([^:]*:)*({})", is_anchored ? pattern.substr(1) : pattern);
}

}  // namespace flowtap
