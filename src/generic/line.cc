// The list of generic tools, and what their command lines consist of; see generic.h.

#include <array>

#include "base/text.h"
#include "generic/generic.h"

namespace flowtap {

static constexpr std::array<const GenericTool*, 6> kTools = {
    &kArgdist, &kFunccount, &kFunclatency, &kFuncslower, &kStackcount, &kTrace};

std::span<const GenericTool* const> generic_tools() { return kTools; }

const GenericTool* find_generic_tool(std::string_view name) {
  for (const GenericTool* tool : kTools)
    if (tool->name == name) return tool;
  return nullptr;
}

int64_t GenericLine::number(const std::string& name, int64_t fallback) const {
  return has(name) ? parse_number(values.at(name)).value_or(fallback) : fallback;
}

std::string shell_word(const std::string& word) {
  bool is_plain = !word.empty() && word.find_first_of(" *?()[]{}$&|;<>\"'\\#~`!\n") == word.npos;
  if (is_plain) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

void GenericLine::add(const OptionSpec& option, const OptionItem& item) {
  group_ = option.takes == Takes::Words ? option.letter : 0;
  values[std::string(option.name)] = item.value.value_or("");
  shown += " " + item.shown;
  if (item.value) shown += " " + shell_word(*item.value);
}

void GenericLine::add_word(const std::string& word) {
  words.push_back({group_, word});
  shown += " " + shell_word(word);
}

}  // namespace flowtap
