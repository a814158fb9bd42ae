// Attach points, '#' lines and C definitions, taken from a script as text. The lexer cannot read
// them: in `uprobe:/lib/*/x.so:f` it would see a comment, and C has tokens of its own.

#include "lang/raw_text.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace flowtap {

namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == kNone;
}

// `begin` stands on a quote; one past its partner, or past the line if there is none.
size_t quoted_end(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); i++) {
    if (text[i] == '\\') {
      i++;
    } else if (text[i] == text[begin]) {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

// One past the comment that begins here, or `begin` if none does.
size_t comment_end(std::string_view text, size_t begin) {
  std::string_view rest = text.substr(begin);
  if (rest.starts_with("//")) return line_end(text, begin);
  if (!rest.starts_with("/*")) return begin;
  size_t end = text.find("*/", begin + 2);
  return end == kNone ? text.size() : end + 2;
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t next = is_blank(text[at]) ? at + 1 : comment_end(text, at);
    if (next == at) break;
    at = next;
  }
  return at;
}

// `begin` stands on an opening bracket; one past its partner, or npos.
size_t bracket_end(std::string_view text, size_t begin, char open, char close) {
  int depth = 0;
  for (size_t i = begin; i < text.size();) {
    size_t after = comment_end(text, i);
    if (after == i && text[i] == '"') after = quoted_end(text, i);
    if (after != i) {
      i = after;
      continue;
    }
    if (text[i] == open) depth++;
    if (text[i] == close && --depth == 0) return i + 1;
    i++;
  }
  return kNone;
}

// Does `@file:line` begin here, the line being a number that ends its part?
bool at_source_line(std::string_view text, size_t at) {
  size_t colon = text.find(':', at);
  if (colon == kNone) return false;
  std::string_view line = text.substr(colon + 1);
  return is_all_digits(line.substr(0, line.find(':')));
}

}  // namespace

size_t line_end(std::string_view text, size_t begin) {
  return std::min(text.find('\n', begin), text.size());
}

void each_c_line(std::string_view text, const std::function<void(size_t, size_t)>& visit) {
  bool is_first_word = true;
  for (size_t at = 0; at < text.size();) {
    if (size_t after = comment_end(text, at); after != at) {
      at = after;
      continue;
    }
    if (is_first_word && text[at] == '#') {
      size_t end = line_end(text, at);
      visit(at, end);
      at = end;
      continue;
    }
    is_first_word = text[at] == '\n' || (is_first_word && is_blank(text[at]));
    at = text[at] == '"' ? quoted_end(text, at) : at + 1;
  }
}

// It runs to a blank, a '{' or a ','. A '/' is part of a path once a ':' was seen; before that,
// as in `BEGIN/pid == 1/`, it begins the predicate.
size_t attach_point_end(std::string_view text, size_t begin) {
  bool seen_colon = false;
  size_t at = begin;
  while (at < text.size()) {
    char c = text[at];
    if (is_blank(c) || c == '{' || c == ',') break;
    if (c == '/' && !seen_colon) break;
    seen_colon = seen_colon || c == ':';
    at = c == '"' ? quoted_end(text, at) : at + 1;
  }
  return at;
}

static bool is_name_char(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Behind "}": where words and parentheses that begin on its line end at a ';', as `__packed;` does.
// None when something else follows, such as a probe.
static size_t end_of_words(std::string_view text, size_t at) {
  size_t first = skip_blanks(text, at);
  bool is_on_next_line = text.substr(at, first - at).find('\n') != kNone;
  if (is_on_next_line && first < text.size() && text[first] != ';') return kNone;
  while (at != kNone && (at = skip_blanks(text, at)) < text.size()) {
    size_t word = at;
    while (at < text.size() && is_name_char(text[at])) at++;
    char next = at < text.size() ? text[at] : '\0';
    if (next == ';') return at + 1;
    if (next == '(')
      at = bracket_end(text, at, '(', ')');
    else if (at == word)
      return kNone;
  }
  return kNone;
}

//   c_definition = ("struct"|"union"|"enum") [name] [ "{" ... "}" { "__attribute__" "(" ... ")" } ]
//                  [ ";" ]
//                | ("struct"|"union"|"enum") [name] "{" ... "}" { word | "(" ... ")" } ";"
size_t c_definition_end(std::string_view text, size_t begin) {
  size_t at = text.find_first_of("{;", begin);
  if (at == kNone || text[at] == ';') return at == kNone ? kNone : at + 1;
  size_t end = bracket_end(text, at, '{', '}');
  size_t words = end == kNone ? kNone : end_of_words(text, end);
  if (words != kNone) return words;
  while (end != kNone) {
    size_t next = skip_blanks(text, end);
    if (!text.substr(next).starts_with("__attribute__")) return end;
    size_t open = skip_blanks(text, next + std::string_view("__attribute__").size());
    if (open >= text.size() || text[open] != '(') return end;
    end = bracket_end(text, open, '(', ')');
  }
  return kNone;
}

std::vector<std::string> split_attach_point(std::string_view text,
                                            const AttachParameter& parameter) {
  std::vector<std::string> parts(1);
  bool in_quotes = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"') {
      in_quotes = !in_quotes;
      i++;
    } else if (in_quotes) {
      if (c == '\\' && i + 1 < text.size()) i++;
      parts.back() += text[i++];
    } else if (c == ':') {
      parts.emplace_back();
      i++;
    } else if (c == '$' && parameter) {
      i += std::max<size_t>(1, parameter(text.substr(i), parts.back()));
    } else {
      if (c == '@' && parts.size() == 2 && at_source_line(text, i)) parts.emplace_back();
      parts.back() += text[i++];
    }
  }
  return parts;
}

}  // namespace flowtap
