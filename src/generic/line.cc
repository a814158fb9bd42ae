// Command lines of the generic tools. Way in: parse_generic_line(). Letters may stand together
// (-KP) and a value may be stuck to its letter (-i5), as getopt(3) has it.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/given_once.h"
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

namespace {

class LineParser {
 public:
  LineParser(const GenericTool& tool, const std::vector<std::string>& words)
      : tool_(tool), words_(words) {}

  Result<GenericLine> parse() {
    line_.shown = fmt::format("flowtap {}", tool_.name);
    for (const std::string& word : words_) line_.shown += " " + shell_word(word);
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      Status status = word.starts_with("--")                 ? take_long(word)
                      : word.starts_with("-") && word != "-" ? take_letters(word)
                                                             : take_word(word);
      if (!status.ok()) return status.error();
    }
    return std::move(line_);
  }

 private:
  Status take_word(const std::string& word) {
    line_.words.push_back({group_, word});
    return Done{};
  }

  Status take_long(const std::string& word) {
    size_t equal = word.find('=');
    std::string name = word.substr(2, equal == word.npos ? equal : equal - 2);
    for (const GenericOption& option : tool_.options)
      if (option.name == name)
        return take(option, "--" + name,
                    equal == word.npos ? std::nullopt : std::optional(word.substr(equal + 1)));
    return unknown("--" + name);
  }

  Status take_letters(const std::string& word) {
    for (size_t i = 1; i < word.size(); i++) {
      auto option = std::find_if(tool_.options.begin(), tool_.options.end(),
                                 [&](const GenericOption& o) { return o.letter == word[i]; });
      if (option == tool_.options.end()) return unknown(fmt::format("-{}", word[i]));
      bool has_value = takes_value(option->takes);
      std::optional<std::string> value;
      if (has_value && i + 1 < word.size()) value = word.substr(i + 1);
      if (Status status = take(*option, fmt::format("-{}", word[i]), value); !status.ok())
        return status;
      if (has_value) break;
    }
    return Done{};
  }

  Status take(const GenericOption& option, const std::string& shown,
              std::optional<std::string> value) {
    group_ = 0;
    std::string name(option.name);
    bool has_value = takes_value(option.takes);
    if (!has_value) {
      if (value) return Error{fmt::format("option '{}' of {} takes no value", shown, tool_.name)};
      if (option.takes == Takes::Words) group_ = option.letter;
      line_.values[name] = "";
      return Done{};
    }
    if (!value && at_ == words_.size())
      return Error{fmt::format("option '{}' of {} needs a value", shown, tool_.name)};
    if (!value) value = words_[at_++];
    if (option.takes != Takes::Text) {
      bool is_index = option.takes == Takes::Index;
      std::optional<int64_t> number = parse_number(*value);
      if (!number || *number < (is_index ? 0 : 1))
        return Error{fmt::format("{} takes a {}number, found '{}'", shown,
                                 is_index ? "" : "positive whole ", *value)};
    }
    if (Status status = given_.take("--" + name, *value); !status.ok()) return status;
    line_.values[name] = std::move(*value);
    return Done{};
  }

  Error unknown(const std::string& shown) const {
    std::vector<std::string> names;
    for (const GenericOption& option : tool_.options)
      names.push_back("--" + std::string(option.name));
    std::optional<std::string> near = shown.size() > 2 ? nearest(shown, names) : std::nullopt;
    return Error{fmt::format("{} has no option '{}'", tool_.name, shown), 0,
                 near ? fmt::format("did you mean '{}'?", *near)
                      : fmt::format("flowtap help {} shows its options", tool_.name)};
  }

  const GenericTool& tool_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  char group_ = 0;
  GivenOnce given_;
  GenericLine line_;
};

}  // namespace

Result<GenericLine> parse_generic_line(const GenericTool& tool,
                                       const std::vector<std::string>& words) {
  return LineParser(tool, words).parse();
}

}  // namespace flowtap
