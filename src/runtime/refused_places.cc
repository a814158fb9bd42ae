// Telling a bad place from a bad day; see refused_places.h.

#include "runtime/refused_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "runtime/places.h"

namespace flowtap {

namespace {

// Others, such as missing rights or memory, would be the same everywhere.
const char* reason_of_place(int code) {
  switch (code) {
    case kNotSupportedByKernel: return "the kernel's uprobes do not support the instruction there";
    case ENOEXEC: return "the kernel cannot decode the instruction there";
    case EINVAL: return "there is no code in the file";
    case EIO: return "the file cannot be read there";
    case ENOENT: return "the file has gone";
    default: return nullptr;
  }
}

// The wildcard that a point comes from: its program and where the script has it.
size_t points_of(const Image& image, const AttachPoint& wanted) {
  for (const Program& program : image.programs) {
    auto is_same = [&](const AttachPoint& point) { return &point == &wanted; };
    if (!std::any_of(program.attach.begin(), program.attach.end(), is_same)) continue;
    return static_cast<size_t>(
        std::count_if(program.attach.begin(), program.attach.end(),
                      [&](const AttachPoint& point) { return point.span == wanted.span; }));
  }
  return 0;
}

}  // namespace

bool RefusedPlaces::take(const AttachPoint& point, const Error& error) {
  if (!point.is_one_of_many || !reason_of_place(error.code)) return false;
  places_.push_back({&point, error});
  return true;
}

Status RefusedPlaces::report(const Image& image, const Sources& sources, Writer& writer,
                             bool warns) const {
  struct Wildcard {
    const Refused* first = nullptr;
    size_t refused = 0;
    std::map<int, size_t> codes;
  };
  std::map<std::pair<uint32_t, uint32_t>, Wildcard> wildcards;
  for (const Refused& one : places_) {
    Wildcard& wildcard = wildcards[{one.point->span.file, one.point->span.begin}];
    if (!wildcard.first) wildcard.first = &one;
    wildcard.refused++;
    wildcard.codes[one.error.code]++;
  }
  for (const auto& [span, wildcard] : wildcards) {
    size_t all = points_of(image, *wildcard.first->point);
    if (wildcard.refused >= all) return wildcard.first->error;
    if (!warns) continue;
    std::string reasons;
    for (auto [code, count] : wildcard.codes)
      reasons +=
          fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", reason_of_place(code), count);
    ScriptPlace at(sources, wildcard.first->point->span);
    writer.runtime_error(at.place(),
                         fmt::format("{} of {} could not be attached: {}; -v lists them",
                                     wildcard.refused, counted(all, "place"), reasons));
  }
  return Done{};
}

}  // namespace flowtap
