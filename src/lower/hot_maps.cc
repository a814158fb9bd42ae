// Finding maps that can have hot keys; see hot_maps.h.

#include "lower/hot_maps.h"

#include <algorithm>

#include "builtins/probes.h"
#include "lang/walk.h"

namespace flowtap {

namespace {

class HotUses {
 public:
  HotUses(const CheckedProgram& program, int map) : program_(program), map_(map) {}

  MapUse find() {
    for (const std::unique_ptr<Instance>& instance : program_.instances) look_at(*instance);
    if (understood_ < mentions_) return MapUse::Other;
    return is_visited_ ? MapUse::Visited : MapUse::Counted;
  }

 private:
  void look_at(const Instance& instance) {
    auto count = [&](const Expr& expr) { mentions_ += is_map(expr); };
    auto look = [&](const Expr& expr) { understood_ += is_whole_map_action(expr); };
    if (instance.predicate) for_each_expr(*instance.predicate, count);
    for_each_expr(instance.body, count);
    for_each_expr(instance.body, look);
    bool is_ours = probe_row(instance.kind).has(kRunByFlowtap);
    for_each_stmt(instance.body, [&](const Stmt& stmt) {
      if (auto* assign = std::get_if<Assign>(&stmt.node))
        understood_ += is_map(*assign->target);  // it can only be aggregated
      auto* loop = std::get_if<ForMap>(&stmt.node);
      if (loop && is_ours && is_map(*loop->map)) look_at(*loop);
    });
  }

  // A loop may delete keys that it has seen: what was counted of them was added before it began.
  void look_at(const ForMap& loop) {
    is_visited_ = true;
    understood_++;
    for_each_expr(loop.body, [&](const Expr& expr) {
      const Expr* subject = subject_of(expr, {Fn::Delete});
      understood_ += subject && is_map(*subject);
    });
  }

  bool is_map(const Expr& expr) const {
    return std::holds_alternative<MapAccess>(expr.node) && program_.of(expr).map == map_;
  }

  bool is_whole_map_action(const Expr& expr) const {
    const Expr* subject = subject_of(expr, {Fn::Print, Fn::Clear, Fn::Zero});
    return subject && is_map(*subject) && !std::get<MapAccess>(subject->node).key;
  }

  // The first argument when the expression is a call of one of these; else null.
  const Expr* subject_of(const Expr& expr, std::initializer_list<Fn> calls) const {
    const Call* call = std::get_if<Call>(&expr.node);
    const Builtin* builtin = program_.of(expr).builtin;
    bool is_one =
        call && builtin && std::find(calls.begin(), calls.end(), builtin->id) != calls.end();
    return is_one && !call->args.empty() ? call->args[0].get() : nullptr;
  }

  const CheckedProgram& program_;
  int map_;
  int mentions_ = 0, understood_ = 0;
  bool is_visited_ = false;
};

}  // namespace

MapUse use_of_map(const CheckedProgram& program, int map) {
  const MapInfo& info = program.maps[static_cast<size_t>(map)];
  bool adds_up = is(info.value, Kind::Count) || is(info.value, Kind::Sum) ||
                 is(info.value, Kind::Avg) || is(info.value, Kind::Stats);
  return adds_up && info.is_scalar == false ? HotUses(program, map).find() : MapUse::Other;
}

}  // namespace flowtap
