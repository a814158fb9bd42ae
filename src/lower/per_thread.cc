// Finding maps that are per thread; see per_thread.h.

#include "lower/per_thread.h"

#include "lang/walk.h"

namespace flowtap {

namespace {

class ThreadUses {
 public:
  ThreadUses(const CheckedProgram& program, int map) : program_(program), map_(map) {}

  bool are_per_thread() {
    const MapInfo& info = program_.maps[static_cast<size_t>(map_)];
    bool has_type = info.decl && (info.decl->is_per_report || !info.decl->type.empty());
    if (info.is_scalar != false || has_type || is_aggregation(info.value) || !is_integer(info.key))
      return false;
    for (const std::unique_ptr<Instance>& instance : program_.instances) {
      if (instance->predicate) look(*instance->predicate);
      for_each_expr(instance->body, [&](const Expr& expr) { visit(expr); });
    }
    return is_good_ && is_deleted_;
  }

 private:
  void look(const Expr& expr) {
    for_each_expr(expr, [&](const Expr& e) { visit(e); });
  }

  bool is_tid(const Expr& expr) const {
    const Builtin* builtin = program_.of(expr).builtin;
    const Call* call = std::get_if<Call>(&expr.node);
    return builtin && builtin->id == Fn::Tid && (!call || call->args.empty());
  }

  void visit(const Expr& expr) {
    if (auto* access = std::get_if<MapAccess>(&expr.node)) {
      bool is_ours = program_.of(expr).map == map_;
      // Without a key it is an argument: of delete(), has_key() or find(), looked at below, or of
      // something that needs the whole map.
      if (is_ours && access->key) is_good_ &= is_tid(*access->key);
      if (is_ours && !access->key && &expr != allowed_) is_good_ = false;
    }
    const Call* call = std::get_if<Call>(&expr.node);
    const Builtin* builtin = program_.of(expr).builtin;
    if (!call || !builtin || call->args.empty() || program_.of(*call->args[0]).map != map_) return;
    is_deleted_ |= builtin->id == Fn::Delete;
    if (call->args.size() < 2) return;
    bool takes_key =
        builtin->id == Fn::Delete || builtin->id == Fn::HasKey || builtin->id == Fn::Find;
    if (takes_key) {
      is_good_ &= is_tid(*call->args[1]);
      allowed_ = call->args[0].get();
    }
  }

  const CheckedProgram& program_;
  int map_;
  bool is_good_ = true;
  bool is_deleted_ = false;
  const Expr* allowed_ = nullptr;  // the map argument of the call seen last
};

}  // namespace

bool is_per_thread(const CheckedProgram& program, int map) {
  return ThreadUses(program, map).are_per_thread();
}

}  // namespace flowtap
