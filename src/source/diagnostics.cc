// Collecting diagnostics and drawing them; see diagnostics.h.
// The same message at the same place is kept once: a probe block with several attach points
// is checked several times but was written once.

#include "source/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace flowtap {

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  diagnostic.plan = plan_;
  auto same = [&](const Diagnostic& d) {
    return d.span == diagnostic.span && d.message == diagnostic.message &&
           (d.plan < 0 || d.plan == diagnostic.plan);
  };
  auto found = std::find_if(list_.begin(), list_.end(), same);
  if (found != list_.end()) return *found;
  if (diagnostic.severity == Severity::Error) errors_++;
  return list_.emplace_back(std::move(diagnostic));
}

Diagnostic& Diagnostics::error(Span span, std::string message) {
  return add({.severity = Severity::Error,
              .span = span,
              .message = std::move(message),
              .hint = {},
              .notes = {}});
}

Diagnostic& Diagnostics::warning(Span span, std::string message) {
  return add({.severity = Severity::Warning,
              .span = span,
              .message = std::move(message),
              .hint = {},
              .notes = {}});
}

Diagnostics Diagnostics::of_plan(int plan) const {
  Diagnostics chosen;
  for (const Diagnostic& diagnostic : list_)
    if (diagnostic.plan < 0 || diagnostic.plan == plan) chosen.add(diagnostic);
  return chosen;
}

void Diagnostics::clear() {
  list_.clear();
  errors_ = 0;
}

std::string place_prefix(const Sources& sources, Span span) {
  if (span == kNowhere) return {};
  LineColumn at = sources.position(span);
  return fmt::format("{}:{}:{}: ", sources.file(span.file).name(), at.line, at.column);
}

// The source line and the carets under the part of the span that lies on it. Tabs are copied
// into the caret line so that both lines stay aligned.
std::string excerpt(const Sources& sources, Span span) {
  LineColumn at = sources.position(span);
  std::string_view line = sources.file(span.file).line(at.line);
  std::string indent;
  for (char c : line.substr(0, std::min<size_t>(at.column - 1, line.size())))
    indent += c == '\t' ? '\t' : ' ';
  size_t room = line.size() - std::min<size_t>(line.size(), at.column - 1);
  size_t carets =
      std::max<size_t>(1, std::min<size_t>(span.end - std::min(span.begin, span.end), room));
  std::string number = fmt::format("{:>3}", at.line);
  return fmt::format("{} | {}\n{} | {}{}\n", number, line, std::string(number.size(), ' '), indent,
                     std::string(carets, '^'));
}

std::string render(const Diagnostic& diagnostic, const Sources& sources) {
  const char* severity = diagnostic.severity == Severity::Error ? "error" : "warning";
  bool has_place = diagnostic.span != kNowhere;
  std::string place = has_place ? place_prefix(sources, diagnostic.span) : std::string();
  std::string out = fmt::format("{}{}: {}\n", place, severity, diagnostic.message);
  if (has_place) out += excerpt(sources, diagnostic.span);
  for (const Diagnostic::Note& note : diagnostic.notes) {
    out += fmt::format("{}note: {}\n", place_prefix(sources, note.span), note.message);
    if (note.span != kNowhere) out += excerpt(sources, note.span);
  }
  if (!diagnostic.hint.empty()) out += fmt::format("hint: {}\n", diagnostic.hint);
  return out;
}

}  // namespace flowtap
