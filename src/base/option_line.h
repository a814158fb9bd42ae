#pragma once
// Options of a command line, read by a table, as getopt(3) has them: letters may be combined (-KP),
// a value may follow its letter (-i5) or its name (--interval=5) or be the next word, and options
// and words come in any order. The caller may change the table between two of them, since what
// follows the name of a tool is the tool's.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/given_once.h"
#include "base/result.h"

namespace flowtap {

enum class Takes : uint8_t {
  Nothing,
  Number,  // from one on
  Index,   // from zero on
  Text,
  Maybe,  // --name or --name=VALUE
  Words,  // no value; the words up to the next option belong to it
};
inline bool needs_value(Takes takes) {
  return takes == Takes::Number || takes == Takes::Index || takes == Takes::Text;
}

struct OptionSpec {
  char letter = 0;        // 0 for none
  std::string_view name;  // of --name; empty for none
  Takes takes = Takes::Nothing;
  std::string_view word;  // stands for the value in help
  std::string_view doc;
  bool is_repeatable = false;  // may have another value when it is given again
};

// "-p, --pid PID"
std::string spelling(const OptionSpec& option);

struct OptionItem {
  std::optional<size_t> index;  // of the option in the table; none: it is a word
  std::string shown;            // "-i", "--interval", or the word
  std::optional<std::string> value;
};

class OptionReader {
 public:
  explicit OptionReader(std::vector<std::string> words) : words_(words.begin(), words.end()) {}

  bool is_at_end() const { return words_.empty() && letters_.empty(); }
  size_t words_left() const { return words_.size(); }
  // Which tool the following options are for; messages name it.
  void set_owner(std::string_view owner) { owner_ = owner; }

  // Of two options with the same letter or name the first in the table is taken.
  Result<OptionItem> next(std::span<const OptionSpec> options);
  // The next word whatever it is, and all of them.
  std::string take();
  std::vector<std::string> take_all();

 private:
  Result<OptionItem> next_letter(std::span<const OptionSpec> options);
  Result<OptionItem> next_long(std::span<const OptionSpec> options, const std::string& word);
  Status take_value(const OptionSpec& option, OptionItem& item);
  Error unknown(std::span<const OptionSpec> options, const std::string& shown) const;
  std::string of_owner() const;

  std::deque<std::string> words_;
  std::string letters_;  // what is left of a word of letters
  std::string owner_;
  GivenOnce given_;
};

}  // namespace flowtap
