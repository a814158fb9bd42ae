// Reading options; see option_line.h.

#include "base/option_line.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace flowtap {

static std::string long_name(const OptionSpec& option) { return fmt::format("--{}", option.name); }

std::string spelling(const OptionSpec& option) {
  std::string out = option.letter ? fmt::format("-{}", option.letter) : "";
  if (option.letter && !option.name.empty()) out += ", ";
  if (!option.name.empty()) out += long_name(option);
  if (!option.word.empty()) out += fmt::format(" {}", option.word);
  return out;
}

// The option of that name, or the only one whose name begins so.
static std::optional<size_t> find_name(std::span<const OptionSpec> options, std::string_view name,
                                       bool may_be_short) {
  std::optional<size_t> found;
  size_t count = 0;
  for (size_t i = 0; i < options.size(); i++) {
    if (options[i].name.empty() || !options[i].name.starts_with(name)) continue;
    if (options[i].name == name) return i;
    found = i;
    count++;
  }
  return may_be_short && count == 1 && !name.empty() ? found : std::nullopt;
}

std::string OptionReader::take() {
  std::string word = std::move(words_.front());
  words_.pop_front();
  return word;
}

std::vector<std::string> OptionReader::take_all() {
  std::vector<std::string> all(words_.begin(), words_.end());
  words_.clear();
  return all;
}

Result<OptionItem> OptionReader::next(std::span<const OptionSpec> options) {
  if (!letters_.empty()) return next_letter(options);
  std::string word = take();
  if (word.starts_with("--") && word.size() > 2) return next_long(options, word);
  if (!word.starts_with("-") || word.size() == 1 || word == "--")
    return OptionItem{.index = std::nullopt, .shown = std::move(word), .value = std::nullopt};
  letters_ = word.substr(1);
  return next_letter(options);
}

Result<OptionItem> OptionReader::next_letter(std::span<const OptionSpec> options) {
  char letter = letters_[0];
  OptionItem item{.index = std::nullopt, .shown = {'-', letter}, .value = std::nullopt};
  for (size_t i = 0; i < options.size() && !item.index; i++)
    if (options[i].letter == letter) item.index = i;
  if (!item.index) return unknown(options, item.shown);
  letters_.erase(0, 1);
  const OptionSpec& option = options[*item.index];
  if (needs_value(option.takes) && !letters_.empty()) item.value = std::exchange(letters_, {});
  if (Status status = take_value(option, item); !status) return status.error();
  return item;
}

Result<OptionItem> OptionReader::next_long(std::span<const OptionSpec> options,
                                           const std::string& word) {
  size_t equal = word.find('=');
  OptionItem item{.index = std::nullopt, .shown = word.substr(0, equal), .value = std::nullopt};
  item.index = find_name(options, std::string_view(item.shown).substr(2), owner_.empty());
  if (!item.index) return unknown(options, item.shown);
  if (equal != std::string::npos) item.value = word.substr(equal + 1);
  if (Status status = take_value(options[*item.index], item); !status) return status.error();
  return item;
}

Status OptionReader::take_value(const OptionSpec& option, OptionItem& item) {
  bool takes_none = option.takes == Takes::Nothing || option.takes == Takes::Words;
  if (takes_none && item.value)
    return Error{fmt::format("option '{}'{} takes no value", item.shown, of_owner())};
  if (!needs_value(option.takes)) return Done{};
  if (!item.value && words_.empty())
    return Error{fmt::format("option '{}'{} needs a value", item.shown, of_owner())};
  if (!item.value) item.value = take();
  if (option.takes != Takes::Text) {
    bool is_index = option.takes == Takes::Index;
    std::optional<int64_t> number = parse_number(*item.value);
    if (!number || *number < (is_index ? 0 : 1))
      return Error{fmt::format("{} takes a {}number, found '{}'", item.shown,
                               is_index ? "" : "positive whole ", *item.value)};
  }
  if (option.is_repeatable) return Done{};
  return given_.take(option.name.empty() ? fmt::format("-{}", option.letter) : long_name(option),
                     *item.value);
}

Error OptionReader::unknown(std::span<const OptionSpec> options, const std::string& shown) const {
  std::vector<std::string> names;
  for (const OptionSpec& option : options)
    if (!option.name.empty()) names.push_back(long_name(option));
  std::optional<std::string> near = shown.size() > 2 ? nearest(shown, names) : std::nullopt;
  std::string hint = near             ? fmt::format("did you mean '{}'?", *near)
                     : owner_.empty() ? "--help shows all options"
                                      : fmt::format("flowtap help {} shows its options", owner_);
  std::string whose = owner_.empty() ? "there is" : owner_ + " has";
  return Error{fmt::format("{} no option '{}'", whose, shown), 0, std::move(hint)};
}

std::string OptionReader::of_owner() const {
  return owner_.empty() ? "" : fmt::format(" of {}", owner_);
}

}  // namespace flowtap
