// Telling a bad place from a bad day; see refused_places.h.

#include "runtime/refused_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "builtins/probes.h"
#include "runtime/places.h"

namespace flowtap {

namespace {

std::string reason_in_program(int code) {
  switch (code) {
    case kNotSupportedByKernel: return "the kernel's uprobes do not support the instruction there";
    case ENOEXEC: return "the kernel cannot decode the instruction there";
    case EINVAL: return "there is no code in the file";
    case EIO: return "the file cannot be read there";
    case ENOENT: return "the file has gone";
    default: return {};
  }
}

// Empty for what would be the same everywhere, such as missing privileges or memory.
std::string reason_of_place(const AttachPoint& point, int code) {
  if (probe_row(point.kind).has(kUserSpace)) return reason_in_program(code);
  switch (code) {
    case 0: return "the kernel has no such function, or forbids probes there";
    case EPERM:
    case EACCES:
    case ENOMEM:
    case EMFILE:
    case ENFILE: return {};
    default: return errno_text(code);
  }
}

template <typename Wanted>
size_t count_points(const Image& image, Wanted is_wanted) {
  size_t count = 0;
  for (const Program& program : image.programs)
    count +=
        static_cast<size_t>(std::count_if(program.attach.begin(), program.attach.end(), is_wanted));
  return count;
}

}  // namespace

bool RefusedPlaces::take(const AttachPoint& point, const Error& error) {
  std::string reason = point.is_one_of_many ? reason_of_place(point, error.code) : "";
  if (reason.empty()) return false;
  places_.push_back({&point, error, std::move(reason)});
  return true;
}

void RefusedPlaces::take_all(const Program& program, const LeftOutProgram& left_out) {
  for (const AttachPoint& point : program.attach)
    places_.push_back({&point, left_out.error, left_out.reason});
}

Status RefusedPlaces::check_groups(const Image& image) const {
  for (const Refused& one : places_) {
    const Span& group = one.point->group;
    size_t all = count_points(image, [&](const AttachPoint& p) { return p.group == group; });
    size_t refused = static_cast<size_t>(
        std::count_if(places_.begin(), places_.end(),
                      [&](const Refused& other) { return other.point->group == group; }));
    if (refused >= all) return one.error;
  }
  return Done{};
}

Status RefusedPlaces::report(const Image& image, const Sources& sources, Writer& writer,
                             bool warns) const {
  if (Status left = check_groups(image); !left) return left;
  if (!warns) return Done{};
  struct Pattern {
    const Refused* first = nullptr;
    size_t refused = 0;
    std::map<std::string, size_t> reasons;
  };
  std::map<std::pair<uint32_t, uint32_t>, Pattern> patterns;  // as the script has them
  for (const Refused& one : places_) {
    Pattern& pattern = patterns[{one.point->span.file, one.point->span.begin}];
    if (!pattern.first) pattern.first = &one;
    pattern.refused++;
    pattern.reasons[one.reason]++;
  }
  for (const auto& [span, pattern] : patterns) {
    const Span& place = pattern.first->point->span;
    size_t all = count_points(image, [&](const AttachPoint& p) { return p.span == place; });
    std::string reasons;
    for (const auto& [reason, count] : pattern.reasons)
      reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", reason, count);
    ScriptPlace at(sources, place);
    writer.runtime_error(at.place(),
                         all == 1 ? fmt::format("{}; skipping it", pattern.first->error.message())
                                  : fmt::format("{} of {} could not be attached: {}; -v lists them",
                                                pattern.refused, counted(all, "place"), reasons));
  }
  return Done{};
}

}  // namespace flowtap
