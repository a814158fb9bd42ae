// Source files and the arithmetic of places in them; see source.h.

#include "source/source.h"

#include <algorithm>

namespace flowtap {

Span cover(Span a, Span b) {
  if (a.file != b.file) return a;
  return Span{a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); i++)
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
}

LineColumn SourceFile::position(uint32_t offset) const {
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  uint32_t line = static_cast<uint32_t>(after - line_starts_.begin());
  return LineColumn{line, offset - line_starts_[line - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  std::string_view rest = std::string_view(text_).substr(line_starts_[number - 1]);
  return rest.substr(0, rest.find('\n'));
}

uint32_t Sources::add(std::string name, std::string text) {
  files_.push_back(std::make_shared<SourceFile>(std::move(name), std::move(text)));
  return static_cast<uint32_t>(files_.size() - 1);
}

std::string_view Sources::text(Span span) const {
  return std::string_view(file(span.file).text()).substr(span.begin, span.end - span.begin);
}

}  // namespace flowtap
