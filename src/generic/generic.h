#pragma once
// The generic tools: they trace whatever function or event their command line names. Each turns
// its command line, which is that of the BCC tool of its name, into a script.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/option_line.h"
#include "base/result.h"

namespace flowtap {

// A command line, taken apart.
struct GenericLine {
  struct Word {
    char group;  // letter of the option with Takes::Words before it; 0 for none
    std::string text;
  };
  std::string shown;                          // the whole of it, as a shell would take it
  std::map<std::string, std::string> values;  // by name; empty for options that take nothing
  std::vector<Word> words;

  // The next option (of the tool's own) or word.
  void add(const OptionSpec& option, const OptionItem& item);
  void add_word(const std::string& word);

  bool has(const std::string& name) const { return values.contains(name); }
  std::string text(const std::string& name) const { return has(name) ? values.at(name) : ""; }
  int64_t number(const std::string& name, int64_t fallback = 0) const;

 private:
  char group_ = 0;
};

struct GenericScript {
  std::string text;
  int64_t duration = 0;      // seconds; 0: until Ctrl-C
  std::string probe_filter;  // regular expression that names of places must match
};

struct GenericTool {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;  // what follows the options
  std::string_view description;
  std::string_view overhead;  // how it was measured stands behind it in help
  std::string_view example;
  std::string_view see_also;
  std::span<const OptionSpec> options;
  Result<GenericScript> (*write)(const GenericLine& line);
};

std::span<const GenericTool* const> generic_tools();
const GenericTool* find_generic_tool(std::string_view name);  // null when there is none

// In quotes where a shell needs them.
std::string shell_word(const std::string& word);

extern const GenericTool kFunccount, kStackcount, kArgdist, kTrace, kFunclatency, kFuncslower;

}  // namespace flowtap
