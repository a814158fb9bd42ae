#pragma once
// The output formats, one row each. A format is a Writer of its own and its row here.

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "output/csv_writer.h"
#include "output/json_writer.h"
#include "output/text_writer.h"

namespace flowtap {

struct OutputFormat {
  std::string_view name;
  std::unique_ptr<Writer> (*make)(Sink& data, Sink& diagnostics, const ValueContext& context);
  bool is_json = false;  // so are the verdicts of `check` and the results of tests
};

inline constexpr OutputFormat kFormats[] = {
    {"text", make_text_writer},
    {"json", make_json_writer, true},
    {"csv", make_csv_writer},
};

// The names with a character between: "text|json|csv".
inline constexpr auto kFormatNameBytes = [] {
  constexpr size_t kSize = [] {
    size_t size = 0;
    for (const OutputFormat& format : kFormats) size += format.name.size() + 1;
    return size - 1;
  }();
  std::array<char, kSize> names = {};
  size_t at = 0;
  for (const OutputFormat& format : kFormats) {
    if (at > 0) names[at++] = '|';
    for (char c : format.name) names[at++] = c;
  }
  return names;
}();
inline constexpr std::string_view kFormatNames = {kFormatNameBytes.data(), kFormatNameBytes.size()};

}  // namespace flowtap
