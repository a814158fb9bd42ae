// Scopes; see resolve.h. A variable lives in the block of its first assignment or `let`. Scripts
// of the 2019 dialect read variables after the block that assigned them: such a variable, found
// only in blocks already closed, is moved up to the probe.

#include "sema/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "lang/expand.h"

namespace flowtap {

namespace {

class Resolver {
 public:
  Resolver(Instance& instance, const Ast& ast, CheckedProgram& program, Diagnostics& diagnostics)
      : instance_(instance),
        ast_(ast),
        program_(program),
        diagnostics_(diagnostics),
        first_(program.variables.size()) {}

  void run() {
    scopes_.emplace_back();
    if (instance_.predicate) expr(*instance_.predicate);
    block(instance_.body);
    warn_about_early_reads();
    follow_aliases();
    instance_.first_variable = first_;
    instance_.end_variable = program_.variables.size();
  }

 private:
  using Scope = std::map<std::string, VariableId>;

  // --- variables ------------------------------------------------------------------------------
  VariableId declare(const std::string& name, Span span) {
    VariableId id = program_.variables.add({.name = name, .function = function_, .span = span});
    aliases_.push_back(id);
    scopes_.back()[name] = id;
    return id;
  }

  VariableId find(const std::string& name) const {
    for (size_t i = scopes_.size(); i-- > 0;)
      if (auto found = scopes_[i].find(name); found != scopes_[i].end()) return found->second;
    return {};
  }

  // A variable of a closed block, read later in the same probe: all of that name become one.
  VariableId revive(const std::string& name) {
    VariableId root;
    for (size_t i = first_; i < program_.variables.size(); i++) {
      VariableId id(i);
      VariableInfo& variable = program_.variables[id];
      if (variable.name != name) continue;
      if (!root.is_set()) {
        root = id;
        if (variable.function != 0) variable.is_captured = true;
        variable.function = 0;
      }
      if (variable.function != 0 || variable.is_captured)
        program_.variables[root].is_captured = true;
      aliases_[i - first_] = root;
      variable.is_merged = id != root;
    }
    if (root.is_set()) {
      stored_.insert(root);
      scopes_.front()[name] = root;
      program_.variables[root].needs_zero = true;
    }
    return root;
  }

  void note_use(VariableId id) {
    VariableInfo& variable = program_.variables[id];
    if (variable.function != function_) variable.is_captured = true;
  }

  void follow_aliases() {
    auto follow = [&](VariableId id) { return id.is_set() ? aliases_[id.index() - first_] : id; };
    for (uint32_t id : used_) program_.info[id].variable = follow(program_.info[id].variable);
    for (auto& [stmt, id] : instance_.declares) id = follow(id);
  }

  // --- maps -----------------------------------------------------------------------------------
  MapId map_number(const std::string& name, Span span) {
    auto found = std::find_if(program_.maps.begin(), program_.maps.end(),
                              [&](const MapInfo& m) { return m.name == name; });
    if (found != program_.maps.end())
      return MapId(static_cast<size_t>(found - program_.maps.begin()));
    MapInfo map{.name = name, .span = span};
    for (const MapDecl& decl : ast_.map_decls)
      if (decl.name == name) map.decl = &decl;
    return program_.maps.add(std::move(map));
  }

  // --- the walk ---------------------------------------------------------------------------------
  void block(const Block& b) {
    scopes_.emplace_back();
    for (const StmtPtr& s : b.stmts) stmt(*s);
    if (b.result) expr(*b.result);
    scopes_.pop_back();
  }

  void expr(const ExprPtr& e) {
    if (e) expr(*e);
  }

  void exprs(const std::vector<ExprPtr>& list) {
    for (const ExprPtr& e : list) expr(*e);
  }

  void expr(const Expr& e) {
    std::visit([&](const auto& n) { node(e, n); }, e.node);
  }

  void node(const Expr& e, const Variable& n) {
    VariableId id = find(n.name);
    if (!id.is_set()) id = revive(n.name);
    if (!id.is_set()) {
      Diagnostic& report =
          diagnostics_.error(e.span, fmt::format("'${}' has no value yet", written_name(n.name)));
      add_expansion_notes(report, ast_, program_.origins[e.id]);
      std::vector<std::string> names;
      for (const Scope& scope : scopes_)
        for (const auto& [name, number] : scope) names.push_back(written_name(name));
      if (auto near = nearest(n.name, names))
        report.with_hint(fmt::format("did you mean '${}'?", *near));
      return;
    }
    use(e, id);
    const VariableInfo& variable = program_.variables[id];
    bool is_read = unevaluated_ == 0 && variable.function == function_;
    if (is_read && !stored_.contains(id)) early_reads_.emplace_back(id, &e);
  }

  void use(const Expr& e, VariableId id) {
    note_use(id);
    program_.info[e.id].variable = id;
    used_.push_back(e.id);
  }

  void node(const Expr& e, const Unary& n) {
    expr(n.operand);
    // A variable whose address is taken must have one.
    VariableId id = program_.info[n.operand->id].variable;
    if (n.op == UnaryOp::AddressOf && id.is_set()) program_.variables[id].is_captured = true;
    (void)e;
  }

  void node(const Expr& e, const MapAccess& n) {
    program_.info[e.id].map = map_number(n.name, e.span);
    expr(n.key);
  }
  void node(const Expr&, const IntegerLiteral&) {}
  void node(const Expr&, const StringLiteral&) {}
  void node(const Expr&, const BoolLiteral&) {}
  void node(const Expr&, const Identifier&) {}
  void node(const Expr&, const Parameter&) {}
  void node(const Expr&, const Binary& n) { expr(n.left), expr(n.right); }
  void node(const Expr&, const Ternary& n) { expr(n.condition), expr(n.then), expr(n.otherwise); }
  void node(const Expr&, const Increment& n) { expr(n.target); }
  void node(const Expr&, const Cast& n) { without_value(n.type.of), expr(n.operand); }
  void node(const Expr&, const Member& n) { expr(n.base); }
  void node(const Expr&, const Index& n) { expr(n.base), expr(n.index); }
  void node(const Expr&, const Call& n) {
    // find(@m, k, $v) may be what gives $v its first value.
    bool stores = n.name == "find" && n.args.size() == 3;
    if (stores)
      if (auto* v = std::get_if<Variable>(&n.args[2]->node)) {
        if (!find(v->name).is_set())
          program_.variables[declare(v->name, n.args[2]->span)].needs_zero = true;
        stored_.insert(find(v->name));
      }
    exprs(n.args);
  }
  void node(const Expr&, const TupleExpr& n) { exprs(n.elements); }
  void node(const Expr&, const RecordExpr& n) { exprs(n.elements); }
  void node(const Expr&, const Sizeof& n) { without_value(n.type.of), without_value(n.operand); }
  void node(const Expr&, const Offsetof& n) { without_value(n.type.of), without_value(n.operand); }
  void node(const Expr&, const Typeof& n) { without_value(n.type.of); }

  // Looked at for its type, never evaluated.
  void without_value(const ExprPtr& e) {
    unevaluated_++;
    expr(e);
    unevaluated_--;
  }
  void node(const Expr&, const BlockExpr& n) { block(n.block); }
  void node(const Expr&, const IfExpr& n) { expr(n.condition), block(n.then), block(n.otherwise); }
  void node(const Expr&, const Comptime& n) { expr(n.operand); }
  void node(const Expr&, const FnCall& n) {
    scopes_.emplace_back();
    for (const StmtPtr& param : n.params) stmt(*param);
    VariableId outer = result_;
    result_ = {};
    if (n.result) {
      stmt(*n.result);
      result_ = instance_.declares.at(n.result.get());
    }
    block(n.body);
    result_ = outer;
    scopes_.pop_back();
  }

  void stmt(const Stmt& s) {
    std::visit([&](const auto& n) { statement(s, n); }, s.node);
  }

  void statement(const Stmt&, const ExprStmt& n) { expr(n.expr); }
  void statement(const Stmt&, const Break&) {}
  void statement(const Stmt&, const Continue&) {}
  void statement(const Stmt&, const Return& n) {
    expr(n.value);
    if (result_.is_set()) note_use(result_);
  }
  void statement(const Stmt&, const Emit& n) { exprs(n.values); }
  void statement(const Stmt&, const Block& n) { block(n); }
  void statement(const Stmt&, const If& n) { expr(n.condition), block(n.then), block(n.otherwise); }
  void statement(const Stmt&, const Unroll& n) {
    instance_.has_unroll = true;
    expr(n.count), block(n.body);
  }

  void statement(const Stmt& s, const Assign& n) {
    expr(n.value);
    if (!n.target) return;
    auto* variable = std::get_if<Variable>(&n.target->node);
    if (!variable || n.is_compound) {
      expr(n.target);
      if (variable) stored_.insert(find(variable->name));
      return;
    }
    if (!find(variable->name).is_set())
      instance_.declares[&s] = declare(variable->name, n.target->span);
    stored_.insert(find(variable->name));
    use(*n.target, find(variable->name));
  }

  void statement(const Stmt& s, const Let& n) {
    without_value(n.type.of);
    expr(n.value);
    if (VariableId other = find(n.name); other.is_set())
      diagnostics_
          .error(n.name_span, fmt::format("'${}' is already declared", written_name(n.name)))
          .with_note(program_.variables[other].span, "first declared here");
    VariableId id = declare(n.name, n.name_span);
    program_.variables[id].needs_zero = n.value == nullptr;
    if (n.value || n.is_parameter) stored_.insert(id);
    instance_.declares[&s] = id;
  }

  // Loop bodies become functions of their own, since the kernel calls them back.
  template <typename F>  // a template because each loop has its own body to walk
  void loop(const Stmt& s, F body) {
    int outer = function_;
    function_ = instance_.functions++;
    instance_.loop_functions[&s] = function_;
    scopes_.emplace_back();
    body();
    scopes_.pop_back();
    function_ = outer;
  }

  void statement(const Stmt& s, const While& n) {
    loop(s, [&] { expr(n.condition), block(n.body); });
  }

  void statement(const Stmt& s, const ForRange& n) {
    expr(n.begin);
    expr(n.end);
    loop(s, [&] { loop_variable(s, n.name, n.name_span), block(n.body); });
  }

  void statement(const Stmt& s, const ForMap& n) {
    expr(n.map);
    loop(s, [&] { loop_variable(s, n.name, n.name_span), block(n.body); });
  }

  void loop_variable(const Stmt& s, const std::string& name, Span span) {
    if (find(name).is_set())
      diagnostics_.error(span, fmt::format("the loop variable '${}' hides one that exists already",
                                           written_name(name)));
    VariableId id = declare(name, span);
    instance_.declares[&s] = id;
    stored_.insert(id);
  }

  // Reading a variable that has no value yet gives zero, which is seldom what was meant.
  void warn_about_early_reads() {
    for (const auto& [id, e] : early_reads_) {
      const VariableInfo& variable = program_.variables[id];
      if (!stored_.contains(id)) continue;  // nothing is ever stored: inference says so
      Diagnostic& report =
          diagnostics_.warning(e->span, fmt::format("'${}' is read before anything is stored in it",
                                                    written_name(variable.name)));
      add_expansion_notes(report, ast_, program_.origins[e->id]);
    }
  }

  Instance& instance_;
  const Ast& ast_;
  CheckedProgram& program_;
  Diagnostics& diagnostics_;
  size_t first_;
  std::vector<Scope> scopes_;
  std::vector<VariableId> aliases_;
  std::vector<uint32_t> used_;
  std::set<VariableId> stored_;  // variables that something was stored in so far
  std::vector<std::pair<VariableId, const Expr*>> early_reads_;
  int unevaluated_ = 0;
  VariableId result_;  // where 'return' stores to; none outside of functions that give a value
  int function_ = 0;
};

}  // namespace

void resolve_names(Instance& instance, const Ast& ast, CheckedProgram& program,
                   Diagnostics& diagnostics) {
  Resolver(instance, ast, program, diagnostics).run();
}

}  // namespace flowtap
