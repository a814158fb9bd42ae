// Small text helpers; see text.h. nearest() is the Levenshtein distance with swaps.

#include "base/text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/fd.h"

namespace flowtap {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  const char* blanks = " \t\r\n";
  size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string counted(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); i++) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      p++;
      t++;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') p++;
  return p == pattern.size();
}

static std::optional<uint64_t> parse_unsigned(const std::string& digits, int base) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

static std::optional<uint64_t> parse_scientific(const std::string& text, size_t e) {
  std::optional<uint64_t> value = parse_unsigned(text.substr(0, e), 10);
  std::optional<uint64_t> exponent = parse_unsigned(text.substr(e + 1), 10);
  if (!value || !exponent || *exponent > 19) return std::nullopt;
  for (uint64_t i = 0; i < *exponent; i++)
    if (__builtin_mul_overflow(*value, 10u, &*value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_number(std::string_view text) {
  bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.front() == '_' || text.back() == '_') return std::nullopt;
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](char c) { return c != '_'; });

  std::optional<uint64_t> value;
  char second = digits.size() > 1 ? digits[1] : '\0';
  size_t e = digits.find_first_of("eE");
  if (digits[0] == '0' && (second == 'x' || second == 'X')) {
    value = parse_unsigned(digits.substr(2), 16);
  } else if (digits[0] == '0' && (second == 'b' || second == 'B')) {
    value = parse_unsigned(digits.substr(2), 2);
  } else if (e != std::string::npos) {
    value = parse_scientific(digits, e);
  } else {
    value = parse_unsigned(digits, digits[0] == '0' && digits.size() > 1 ? 8 : 10);
  }
  if (!value) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - *value : *value);
}

// Insertions, deletions, replacements and swaps of neighbours, each counted as one.
static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); i++) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    found = &candidate;
  }
  if (!found) return std::nullopt;
  return *found;
}

std::optional<std::string> read_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string content;
  char chunk[65536];
  while (true) {
    ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0) return std::nullopt;
    if (n == 0) return content;
    content.append(chunk, static_cast<size_t>(n));
  }
}

}  // namespace flowtap
