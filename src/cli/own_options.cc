// Options of flowtap itself; see own_options.h.

#include "cli/own_options.h"

#include <array>

namespace flowtap {

namespace {

struct OwnOption {
  std::string_view word;
  bool has_value;
};
constexpr std::array<OwnOption, 18> kOwn = {{{"-f", true},
                                             {"--max-keys", true},
                                             {"--format", true},
                                             {"-o", true},
                                             {"--output", true},
                                             {"-B", true},
                                             {"-c", true},
                                             {"--cmd", true},
                                             {"-d", true},
                                             {"--plan", true},
                                             {"--no-feature", true},
                                             {"-v", false},
                                             {"-q", false},
                                             {"-k", false},
                                             {"--stats", false},
                                             {"--dry-run", false},
                                             {"--no-warnings", false},
                                             {"--verbose", false}}};

}  // namespace

size_t own_length(std::string_view word) {
  std::string_view bare = word.substr(0, word.find('='));
  for (const OwnOption& own : kOwn) {
    if (word == own.word) return own.has_value ? 2 : 1;
    bool is_letter = !own.word.starts_with("--");
    if (own.has_value && (is_letter ? word.starts_with(own.word) : bare == own.word)) return 1;
  }
  return 0;
}

}  // namespace flowtap
