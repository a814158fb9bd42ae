// Joining a script and its imports; see whole_script.h. The texts are kept as they were written,
// comments included: what must stand elsewhere is cut by the places that the parser noted.

#include "compiler/whole_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace flowtap {

namespace {

// Whole lines of a file: [begin, end).
struct Lines {
  size_t begin = 0, end = 0;
};

Lines lines_of(const std::string& text, Span span) {
  size_t begin = span.begin ? text.rfind('\n', span.begin - 1) : std::string::npos;
  size_t end = text.find('\n', span.end);
  return {begin == std::string::npos ? 0 : begin + 1,
          end == std::string::npos ? text.size() : end + 1};
}

bool is_comment(const std::string& text, Lines lines) {
  return text.compare(lines.begin, 2, "//") == 0;
}

// With the comment directly above.
Lines with_comment(const std::string& text, Lines lines) {
  while (lines.begin > 0) {
    Lines above = lines_of(
        text, {0, static_cast<uint32_t>(lines.begin - 1), static_cast<uint32_t>(lines.begin - 1)});
    if (!is_comment(text, above)) break;
    lines.begin = above.begin;
  }
  return lines;
}

// Where the comment that a script begins with ends.
size_t end_of_head(const std::string& text) {
  size_t at = 0;
  while (text.compare(at, 2, "//") == 0 || text.compare(at, 2, "#!") == 0) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) return text.size();
    at = end + 1;
  }
  return at;
}

// The text of `range` without the parts.
std::string cut(const std::string& text, Lines range, std::vector<Lines> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Lines& a, const Lines& b) { return a.begin < b.begin; });
  std::string out;
  size_t at = range.begin;
  for (const Lines& part : parts) {
    size_t end = std::min(part.begin, range.end);
    if (end > at) out += text.substr(at, end - at);
    at = std::max(at, part.end);
  }
  return at < range.end ? out + text.substr(at, range.end - at) : out;
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string heading(const std::string& name) {
  return fmt::format("\n// --- {} {}\n\n", name,
                     std::string(90 - std::min<size_t>(name.size(), 80), '-'));
}

class Joiner {
 public:
  explicit Joiner(const Script& script) : script_(script), moved_(script.sources.size()) {}

  std::string run() {
    const std::string& own = script_.sources.file(0).text();
    size_t rest = end_of_head(own);
    std::string definitions = take_definitions();
    for (const Import& import : script_.ast.imports) {
      Lines lines = lines_of(script_.sources.file(import.span.file).text(), import.span);
      moved_[import.span.file].push_back(lines);
      if (import.span.file == 0) rest = std::max(rest, lines.end);
    }
    if (script_.ast.imports.empty()) return own;

    size_t head = end_of_head(own);
    std::string out = own.substr(0, head);
    if (!definitions.empty()) out += "\n" + definitions;
    std::string settings = trimmed(cut(own, {head, rest}, moved_[0]));
    if (!settings.empty()) out += "\n" + settings + "\n";
    for (uint32_t file = 1; file < script_.sources.size(); file++) {
      const std::string& all = script_.sources.file(file).text();
      std::string text = trimmed(cut(all, {0, all.size()}, moved_[file]));
      if (!text.empty()) out += heading(name_of(file)) + text + "\n";
    }
    return out + heading(name_of(0)) + trimmed(cut(own, {rest, own.size()}, moved_[0])) + "\n";
  }

 private:
  std::string name_of(uint32_t file) const {
    return std::filesystem::path(script_.sources.file(file).name()).filename().string();
  }

  // All of them must stand before anything else.
  std::string take_definitions() {
    std::string out;
    for (const CDefinition& definition : script_.ast.c_definitions) {
      const std::string& text = script_.sources.file(definition.span.file).text();
      Lines lines = with_comment(text, lines_of(text, definition.span));
      std::vector<Lines>& moved = moved_[definition.span.file];
      bool is_new = moved.empty() || lines.begin >= moved.back().end;
      if (is_new) out += text.substr(lines.begin, lines.end - lines.begin);
      if (is_new) moved.push_back(lines);
    }
    return out;
  }

  const Script& script_;
  std::vector<std::vector<Lines>> moved_;  // of each file: what does not stand in its section
};

}  // namespace

std::string whole_script(const Script& script) { return Joiner(script).run(); }

}  // namespace flowtap
