#pragma once
// Small things done to text: splitting, globs, numbers, and the nearest word for a hint.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool contains(const auto& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);
// "1 packet", "2 packets".
std::string counted(uint64_t count, std::string_view noun);
std::string join(std::span<const std::string> parts, std::string_view separator);

// Whole-string match; '*' stands for any run of characters and is the only wildcard.
bool glob_match(std::string_view pattern, std::string_view text);
inline bool has_glob(std::string_view text) { return text.find('*') != std::string_view::npos; }

// A whole-text number in any form a script may use: decimal, 0x, 0b, octal, 1e6, 1_000, with an
// optional sign. Durations are not numbers here.
std::optional<int64_t> parse_number(std::string_view text);

// The candidate closest to `word`, if one is close enough to be a likely slip.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// The whole content of a file, or nothing.
std::optional<std::string> read_file(const std::string& path);

}  // namespace flowtap
