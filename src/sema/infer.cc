// Walks over the program until its types stay as they are; see inference.h.

#include "sema/infer.h"

#include <algorithm>

namespace flowtap {

void Inferrer::run() {
  // Types only widen, so this ends; the bound guards against a mistake of ours.
  constexpr int kMostWalks = 64;
  auto walk = [&] {
    for (walk_.number = 0; walk_.number < kMostWalks && walk_everything(); walk_.number++) {
    }
  };
  walk();
  // `@m = @m + 1` alone: what is counted with and has no other type is a number.
  bool is_open = std::any_of(
      input_.program.maps.begin(), input_.program.maps.end(),
      [](const MapInfo& map) { return map.is_reached && is(map.value, Kind::Unknown); });
  if (is_open) {
    walk_.assumes_numbers = true;
    walk();
  }
  walk_.is_last = true;
  if (walk_.changed || walk_.has_more_to_say) walk_everything();
  stores_.finish_maps();
  stores_.finish_variables();
}

bool Inferrer::walk_everything() {
  walk_.changed = walk_.has_more_to_say = false;
  for (const std::unique_ptr<Instance>& instance : input_.program.instances)
    infer_instance(*instance);
  walk_.has_more_to_say |= !walk_.silent.all().empty();
  walk_.silent.clear();
  return walk_.changed;
}

void Inferrer::infer_instance(const Instance& instance) {
  place_.instance = &instance;
  place_.loop_depth = place_.loops_around = 0;
  place_.function = nullptr;
  if (instance.predicate) expressions_.infer_condition(*instance.predicate);
  blocks_.infer_block(instance.body);
}

}  // namespace flowtap
