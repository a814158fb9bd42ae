// Helpers of the expansion of attach points; see point_maker.h.

#include "sema/point_maker.h"

#include <fmt/format.h>

#include "base/text.h"

namespace flowtap {

Diagnostic& PointMaker::error(std::string message) {
  return diagnostics_.error(spec_.span, std::move(message));
}

bool PointMaker::expect_parts(const ProbeRow& row, size_t least, size_t most) {
  if (count() >= least && count() <= most) return true;
  std::string wanted =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  error(fmt::format("'{}' takes {} part{} after its name, found {}", row.name, wanted,
                    most == 1 ? "" : "s", count()))
      .with_hint(fmt::format("write it as '{}'", row.forms));
  return false;
}

AttachPoint& PointMaker::add(ProbeKind kind, std::string name) {
  points_.push_back({.kind = kind, .name = std::move(name), .span = spec_.span});
  return points_.back();
}

bool PointMaker::split_offset(std::string& function, uint64_t& offset) {
  size_t plus = function.rfind('+');
  if (plus == std::string::npos) return true;
  std::optional<int64_t> number = parse_number(function.substr(plus + 1));
  if (!number || *number < 0) {
    error(fmt::format("'{}' is not an offset", function.substr(plus + 1)));
    return false;
  }
  offset = static_cast<uint64_t>(*number);
  function.resize(plus);
  return true;
}

}  // namespace flowtap
