// Checks before tracing starts; see plot_check.h.

#include "plot/plot_check.h"

#include <fmt/format.h>

namespace flowtap {

Status check_plot(const PlotSpec& spec, std::span<const PlotMap> maps) {
  if (!spec.is_of_map()) return Done{};
  for (const PlotMap& map : maps)
    if (map.name == spec.values[0] && map.value) return Done{};
  return Error{
      fmt::format("--plot draws '{}', which is not used with these options", spec.values[0])};
}

bool is_svg(const std::string& file) { return file.ends_with(".svg"); }

Status check_plot_file(const std::string& file) {
  if (is_svg(file) || file.ends_with(".html") || file.ends_with(".htm")) return Done{};
  return Error{fmt::format("--plot cannot write '{}'", file), 0,
               "the name must end in .svg (a picture) or .html (a page)"};
}

}  // namespace flowtap
