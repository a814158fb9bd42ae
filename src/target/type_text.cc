// C type text -> types. Ways in: parse_declaration() and parse_type_text().
//
//   declaration = [ "__data_loc" | "__rel_loc" ] words { "*" } { "[" [ number ] "]" } name
//                 { "[" [ number ] "]" }
//
// Not the C grammar, but the part of it that the kernel prints: tracefs shows a field as the
// source text of its TRACE_EVENT macro. The last identifier is the name, what stands before it is
// the type, and qualifiers (const, __user...) may stand anywhere. Names of types are asked of
// `find`; the integers of C and the kernel's usual names for them are known here as well, so that
// a kernel without BTF can still be traced.

#include "target/type_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "types/array_size.h"

namespace flowtap {
namespace {

struct IntegerName {
  std::string_view name;
  uint32_t size;
  bool is_signed;
};

constexpr IntegerName kIntegerNames[] = {
    {"u8", 1, false},       {"u16", 2, false},      {"u32", 4, false},      {"u64", 8, false},
    {"s8", 1, true},        {"s16", 2, true},       {"s32", 4, true},       {"s64", 8, true},
    {"__u8", 1, false},     {"__u16", 2, false},    {"__u32", 4, false},    {"__u64", 8, false},
    {"__s8", 1, true},      {"__s16", 2, true},     {"__s32", 4, true},     {"__s64", 8, true},
    {"uint8_t", 1, false},  {"uint16_t", 2, false}, {"uint32_t", 4, false}, {"uint64_t", 8, false},
    {"int8_t", 1, true},    {"int16_t", 2, true},   {"int32_t", 4, true},   {"int64_t", 8, true},
    {"__be16", 2, false},   {"__be32", 4, false},   {"__be64", 8, false},   {"uint", 4, false},
    {"size_t", 8, false},   {"ssize_t", 8, true},   {"off_t", 8, true},     {"loff_t", 8, true},
    {"pid_t", 4, true},     {"uid_t", 4, false},    {"gid_t", 4, false},    {"umode_t", 2, false},
    {"dev_t", 4, false},    {"ino_t", 8, false},    {"sector_t", 8, false}, {"gfp_t", 4, false},
    {"clockid_t", 4, true}, {"key_t", 4, true},     {"qid_t", 4, false},    {"timer_t", 4, true},
};

constexpr std::array<std::string_view, 12> kQualifiers = {
    "const",   "volatile", "restrict", "__restrict", "__user",   "__kernel",
    "__iomem", "__percpu", "__rcu",    "__force",    "__seg_gs", "__bitwise"};

constexpr std::array<std::string_view, 8> kIntegerWords = {"unsigned", "signed", "char", "short",
                                                           "int",      "long",   "bool", "_Bool"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Identifiers, numbers and single characters.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    while (i < text.size() && is_word_char(text[i])) i++;
    if (i == begin) i++;
    std::string_view token = text.substr(begin, i - begin);
    if (!trim(token).empty()) tokens.push_back(token);
  }
  return tokens;
}

bool is_name(std::string_view token) {
  return is_word_char(token[0]) && !std::isdigit(static_cast<unsigned char>(token[0])) &&
         !contains(kQualifiers, token);
}

// What the tokens of a declaration say, before names are looked up.
struct Parts {
  std::vector<std::string_view> words;  // "unsigned", "long"; or "struct", "sock"
  uint32_t stars = 0;
  std::vector<uint32_t> bounds;
  std::string_view name;
  bool is_user = false, is_data_loc = false, is_rel_loc = false;
};

// Bounds that are not plain numbers count as not given.
uint32_t parse_bound(std::string_view token) {
  std::optional<int64_t> number = parse_number(token);
  return number && *number > 0 && *number <= UINT16_MAX ? static_cast<uint32_t>(*number) : 0;
}

// "[ 16 ]" starting at tokens[i]; returns the index of the closing bracket.
size_t take_bound(std::span<const std::string_view> tokens, size_t i, Parts& parts) {
  size_t end = i + 1;
  while (end < tokens.size() && tokens[end] != "]") end++;
  parts.bounds.push_back(end == i + 2 ? parse_bound(tokens[i + 1]) : 0);
  return end;
}

// Everything but the name, which the caller has found at `name_index`, if there is one.
Parts take_apart(std::span<const std::string_view> tokens, size_t name_index) {
  Parts parts;
  for (size_t i = 0; i < tokens.size(); i++) {
    std::string_view token = tokens[i];
    if (i == name_index)
      parts.name = token;
    else if (token == "*")
      parts.stars++;
    else if (token == "[")
      i = take_bound(tokens, i, parts);
    else if (token == "__user")
      parts.is_user = true;
    else if (token == "__data_loc")
      parts.is_data_loc = true;
    else if (token == "__rel_loc")
      parts.is_data_loc = parts.is_rel_loc = true;
    else if (is_name(token))
      parts.words.push_back(token);
  }
  return parts;
}

Type integer_of(const std::vector<std::string_view>& words) {
  auto has = [&](std::string_view word) { return contains(words, word); };
  if (has("bool") || has("_Bool")) return bool_type();
  uint32_t size = has("char") ? 1 : has("short") ? 2 : has("long") ? 8 : 4;
  return int_type(size, !has("unsigned"));
}

Type named_integer(std::string_view name) {
  for (const IntegerName& known : kIntegerNames)
    if (known.name == name) return int_type(known.size, known.is_signed);
  return unknown_type();
}

Type tagged(std::string_view keyword, std::string_view tag, const FindType& find) {
  std::string name = std::string(keyword) + " " + std::string(tag);
  if (Type found = find(name)) return found;
  if (keyword == "enum") return unknown_type();
  return struct_type(std::move(name), 0, keyword == "union", -1);
}

Type base_type(const std::vector<std::string_view>& words, const FindType& find) {
  if (words.empty()) return unknown_type();
  if (words[0] == "void") return none_type();
  bool is_tag = words[0] == "struct" || words[0] == "union" || words[0] == "enum";
  if (is_tag) return words.size() == 2 ? tagged(words[0], words[1], find) : unknown_type();
  bool is_c_integer = std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return contains(kIntegerWords, word);
  });
  if (is_c_integer) return integer_of(words);
  if (Type found = find(words[0])) return found;
  return named_integer(words[0]);
}

Type build(const Parts& parts, const FindType& find, AddressSpace space) {
  Type type = base_type(parts.words, find);
  if (parts.stars > 0 && is(type, Kind::Unknown)) type = none_type();
  for (uint32_t i = 0; i < parts.stars; i++)
    type = pointer_type(type, parts.is_user ? AddressSpace::User : space);
  if (parts.is_data_loc) return type;
  // A struct that nobody knows can be pointed to, but not held.
  if (is(type, Kind::Struct) && type->size == 0) return unknown_type();
  if (is(type, Kind::Unknown)) return type;
  for (size_t i = parts.bounds.size(); i-- > 0;) {
    if (!can_repeat(type, parts.bounds[i])) return unknown_type();
    type = array_type(type, parts.bounds[i]);
  }
  return type;
}

// The last identifier outside brackets.
std::optional<size_t> find_name(std::span<const std::string_view> tokens) {
  int depth = 0;
  for (size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i] == "]")
      depth++;
    else if (tokens[i] == "[")
      depth--;
    else if (depth == 0 && is_name(tokens[i]))
      return i;
  }
  return std::nullopt;
}

// "void (*name)(int)": only the name matters, what functions take is of no use to a script.
std::optional<CDeclaration> function_pointer(std::string_view text, AddressSpace space) {
  size_t begin = text.find("(*");
  size_t end = text.find(')', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  std::string_view name = trim(text.substr(begin + 2, end - begin - 2));
  if (name.empty() || !is_name(name)) return std::nullopt;
  return CDeclaration{.name = std::string(name), .type = pointer_type(none_type(), space)};
}

}  // namespace

std::optional<CDeclaration> parse_declaration(std::string_view text, const FindType& find,
                                              AddressSpace space) {
  if (text.find('(') != std::string_view::npos) return function_pointer(text, space);
  std::vector<std::string_view> tokens = tokens_of(text);
  std::optional<size_t> name = find_name(tokens);
  if (!name) return std::nullopt;
  Parts parts = take_apart(tokens, *name);
  return CDeclaration{.name = std::string(parts.name),
                      .type = build(parts, find, space),
                      .is_data_loc = parts.is_data_loc,
                      .is_rel_loc = parts.is_rel_loc};
}

Type parse_type_text(std::string_view text, const FindType& find, AddressSpace space) {
  std::vector<std::string_view> tokens = tokens_of(text);
  return build(take_apart(tokens, tokens.size()), find, space);
}

}  // namespace flowtap
