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
  for (MapInfo& map : input_.program.maps)
    if (map.decl) declare_types(map);
  for (const std::unique_ptr<Instance>& instance : input_.program.instances)
    infer_instance(*instance);
  walk_.has_more_to_say |= !walk_.silent.all().empty();
  walk_.silent.clear();
  return walk_.changed;
}

Type Inferrer::declared_type(const TypeSpec& spec) {
  Type type = types_.resolve_type(spec);
  if (!is(type, Kind::None)) return type;
  Diagnostics& to = walk_.is_last ? input_.diagnostics : walk_.silent;
  to.error(spec.span, "a map cannot hold 'void'").with_hint("a pointer is written 'void *'");
  return unknown_type();
}

void Inferrer::declare_types(MapInfo& map) {
  place_.instance = nullptr;
  const MapDecl& decl = *map.decl;
  std::vector<Type> keys;
  for (const TypeSpec& key : decl.keys) keys.push_back(declared_type(key));
  auto is_unknown = [](const Type& type) { return is(type, Kind::Unknown); };
  if (!keys.empty() && !map.declared_key && std::none_of(keys.begin(), keys.end(), is_unknown)) {
    map.is_scalar = false;
    map.key = map.declared_key = keys.size() == 1 ? keys[0] : tuple_type(keys);
    map.key_only_literals = false;
  }
  if (!decl.has_value_type) return;
  Type value = declared_type(decl.value);
  if (map.declared_value || is_unknown(value)) return;
  map.value = map.declared_value = value;
  map.only_literals = false;
}

void Inferrer::infer_instance(const Instance& instance) {
  place_.instance = &instance;
  place_.loop_depth = place_.loops_around = 0;
  place_.function = nullptr;
  if (instance.predicate) expressions_.infer_condition(*instance.predicate);
  blocks_.infer_block(instance.body);
}

}  // namespace flowtap
