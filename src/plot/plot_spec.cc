// parse_plot(): one pass over the words of the line.

#include "plot/plot_spec.h"

#include "base/text.h"

namespace flowtap {

std::optional<PlotSpec> parse_plot(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  PlotSpec spec;
  if (words.size() < 2) return std::nullopt;
  if (words[0] == "scatter")
    spec.kind = PlotKind::Scatter;
  else if (words[0] == "heat")
    spec.kind = PlotKind::Heat;
  else if (words[0] == "lines")
    spec.kind = PlotKind::Lines;
  else
    return std::nullopt;

  for (size_t i = 1; i < words.size(); i++) {
    if (words[i] == "by" && i + 1 < words.size()) {
      while (i + 1 < words.size() && words[i + 1] != "mark") spec.by.push_back(words[++i]);
    } else if (words[i] == "mark" && i + 2 < words.size()) {
      spec.mark = words[++i];
      spec.marked = words[++i];
    } else if (!spec.values.empty() && spec.is_of_map()) {
      spec.unit = words[i];
    } else {
      spec.values.push_back(words[i]);
    }
  }
  bool takes_one = spec.kind != PlotKind::Lines;
  bool takes_map = spec.kind == PlotKind::Heat;
  if (spec.values.empty() || (takes_one && spec.values.size() > 1)) return std::nullopt;
  if (spec.is_of_map() && !takes_map) return std::nullopt;
  return spec;
}

}  // namespace flowtap
