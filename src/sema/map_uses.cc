// Uses of maps; see map_uses.h. Each probe is looked at once for all maps.

#include "sema/map_uses.h"

#include "builtins/probes.h"
#include "lang/walk.h"

namespace flowtap {

namespace {

// What was seen of one map.
struct MapUsage {
  int mentions = 0;
  int counting =
      0;  // of those: counted, printed or cleared whole, or visited by flowtap's own probes
  bool is_visited = false;
  bool has_other_key = false;  // than `tid`, or the whole map is wanted
  bool is_deleted_from = false;
  const Expr* allowed = nullptr;  // the map argument of the call seen last
};

class MapUseFinder {
 public:
  explicit MapUseFinder(CheckedProgram& program) : program_(program), uses_(program.maps.size()) {}

  void run() {
    for (const std::unique_ptr<Instance>& instance : program_.instances) look_at(*instance);
    for (size_t i = 0; i < uses_.size(); i++) {
      MapInfo& map = program_.maps[MapId(i)];
      const MapUsage& uses = uses_[MapId(i)];
      map.use = use_of(map, uses);
      map.is_per_thread = is_per_thread(map, uses);
      map.is_deleted_from = uses.is_deleted_from;
    }
  }

 private:
  static MapUse use_of(const MapInfo& map, const MapUsage& uses) {
    bool adds_up = is(map.value, Kind::Count) || is(map.value, Kind::Sum) ||
                   is(map.value, Kind::Avg) || is(map.value, Kind::Stats);
    if (!adds_up || map.is_scalar != false || uses.counting < uses.mentions) return MapUse::Other;
    return uses.is_visited ? MapUse::Visited : MapUse::Counted;
  }

  static bool is_per_thread(const MapInfo& map, const MapUsage& uses) {
    bool has_type = map.decl && (map.decl->is_per_report || !map.decl->type.empty());
    bool can_be =
        map.is_scalar == false && !has_type && !is_aggregation(map.value) && is_integer(map.key);
    return can_be && !uses.has_other_key && uses.is_deleted_from;
  }

  void look_at(const Instance& instance) {
    auto look = [&](const Expr& expr) { look_at(expr); };
    if (instance.predicate) for_each_expr(*instance.predicate, look);
    for_each_expr(instance.body, look);
    bool is_ours = probe_row(instance.kind).has(kRunByFlowtap);
    for_each_stmt(instance.body, [&](const Stmt& stmt) {
      auto* assign = std::get_if<Assign>(&stmt.node);
      if (MapUsage* map = assign && assign->target ? uses_of(*assign->target) : nullptr)
        map->counting++;  // where values add up, nothing else is assigned
      auto* loop = std::get_if<ForMap>(&stmt.node);
      if (loop && is_ours) look_at(*loop);
    });
  }

  void look_at(const Expr& expr) {
    if (MapUsage* map = uses_of(expr)) {
      const ExprPtr& key = std::get<MapAccess>(expr.node).key;
      map->mentions++;
      // Without a key it is an argument: of delete(), has_key() or find(), or of something that
      // needs the whole map.
      if (key ? !is_tid(*key) : &expr != map->allowed) map->has_other_key = true;
    }
    if (const Call* call = std::get_if<Call>(&expr.node)) look_at(*call, program_.of(expr).builtin);
  }

  void look_at(const Call& call, const Builtin* builtin) {
    MapUsage* map = builtin && !call.args.empty() ? uses_of(*call.args[0]) : nullptr;
    if (!map) return;
    Fn id = builtin->id;
    map->is_deleted_from |= id == Fn::Delete;
    bool is_whole = !std::get<MapAccess>(call.args[0]->node).key;
    if (is_whole && (id == Fn::Print || id == Fn::Clear || id == Fn::Zero)) map->counting++;
    if (builtin->wanted(1) != Wants::Key || call.args.size() < 2) return;
    map->has_other_key |= !is_tid(*call.args[1]);
    map->allowed = call.args[0].get();
  }

  // A loop may delete keys that it has seen: what was counted of them was added before it began.
  void look_at(const ForMap& loop) {
    MapUsage* map = uses_of(*loop.map);
    if (!map) return;
    map->is_visited = true;
    map->counting++;
    for_each_expr(loop.body, [&](const Expr& expr) {
      const Call* call = std::get_if<Call>(&expr.node);
      const Builtin* builtin = program_.of(expr).builtin;
      bool deletes = call && builtin && builtin->id == Fn::Delete && !call->args.empty();
      if (deletes && uses_of(*call->args[0]) == map) map->counting++;
    });
  }

  // Null where the expression is no map.
  MapUsage* uses_of(const Expr& expr) {
    bool is_map = std::holds_alternative<MapAccess>(expr.node) && program_.of(expr).map.is_set();
    return is_map ? &uses_[program_.of(expr).map] : nullptr;
  }

  bool is_tid(const Expr& expr) const {
    const Builtin* builtin = program_.of(expr).builtin;
    const Call* call = std::get_if<Call>(&expr.node);
    return builtin && builtin->id == Fn::Tid && (!call || call->args.empty());
  }

  CheckedProgram& program_;
  IdVector<MapId, MapUsage> uses_;
};

}  // namespace

void find_map_uses(CheckedProgram& program) { MapUseFinder(program).run(); }

}  // namespace flowtap
