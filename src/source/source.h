#pragma once
// Source files and places in them. A Span is a file and a byte range; line and column are
// computed only when something has to be shown.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;  // one past the last byte

  bool operator==(const Span&) const = default;
};

// What a message is about when no place in a script can be blamed: an option, a variable of the
// environment.
inline constexpr Span kNowhere{UINT32_MAX, 0, 0};

// The smallest span that holds both.
Span cover(Span a, Span b);

struct LineColumn {
  uint32_t line = 1;    // from 1
  uint32_t column = 1;  // from 1, in bytes
};

class SourceFile {
 public:
  SourceFile(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  LineColumn position(uint32_t offset) const;
  std::string_view line(uint32_t number) const;  // without its newline

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// Every file that took part in a script: the script itself is number 0, imports and macro
// texts follow. Files never move, so string_views into them stay good.
class Sources {
 public:
  uint32_t add(std::string name, std::string text);
  const SourceFile& file(uint32_t number) const { return *files_[number]; }
  size_t size() const { return files_.size(); }
  std::string_view text(Span span) const;
  LineColumn position(Span span) const { return file(span.file).position(span.begin); }

 private:
  std::vector<std::shared_ptr<SourceFile>> files_;
};

}  // namespace flowtap
