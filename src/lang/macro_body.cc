// Makes the body of one macro call. Way in: instantiate().
//
// A macro is hygienic: its variables are not the caller's, even if they have the same name, so
// each is renamed for each call (`$t` of the third call becomes `$t#3`). What the caller passes is
// put in after that and keeps its names. Maps are global to a script and so cannot be renamed;
// a body may use only those that are passed to it.
//
// The first use of an argument takes the argument itself, which keeps the ids, and so the origin,
// of what was expanded inside it; further uses are copies.

#include "lang/macro_body.h"

#include <fmt/format.h>

#include <optional>

#include "lang/clone.h"
#include "lang/rewriter.h"

namespace flowtap {

namespace {

using Kind = MacroParam::Kind;

class Substitution : public Rewriter {
 public:
  explicit Substitution(const MacroUse& use) : use_(use), placed_(use.args.size()) {}

 protected:
  void expr(ExprPtr& e) override;
  void stmt(Stmt& s) override;
  void type(TypeSpec& t) override;

 private:
  std::optional<size_t> find(Kind kind, const std::string& name) const;
  ExprPtr place(size_t index);
  const Expr& argument(size_t index) const;
  const TypeSpec* type_argument(const ExprPtr& e) const;
  const TypeSpec* type_argument(size_t index) const;
  void take_type(TypeSpec& type, ExprPtr& operand);
  void rename(std::string& variable) const;
  void rename_map(MapAccess& map, Span span);

  const MacroUse& use_;
  std::vector<const Expr*> placed_;  // where each argument went first; null: nowhere yet
};

std::optional<size_t> Substitution::find(Kind kind, const std::string& name) const {
  const std::vector<MacroParam>& params = use_.macro.params;
  for (size_t i = 0; i < params.size(); i++)
    if (params[i].kind == kind && params[i].name == name) return i;
  return std::nullopt;
}

const Expr& Substitution::argument(size_t index) const {
  return placed_[index] ? *placed_[index] : *use_.args[index];
}

ExprPtr Substitution::place(size_t index) {
  if (placed_[index] && use_.next_id < use_.limit) return clone(*placed_[index], use_.next_id);
  if (placed_[index]) {
    Span span = placed_[index]->span;
    use_.error(span, "this argument is copied too often by macros", "");
    return std::make_unique<Expr>(Expr{use_.next_id++, span, IntegerLiteral{0}});
  }
  placed_[index] = use_.args[index].get();
  return std::move(use_.args[index]);
}

// The type an argument passes: m(typeof(uint8)).
const TypeSpec* Substitution::type_argument(size_t index) const {
  const Typeof* passed = std::get_if<Typeof>(&argument(index).node);
  return passed ? &passed->type : nullptr;
}

// The type behind an expression that is nothing but a parameter which was passed a type.
const TypeSpec* Substitution::type_argument(const ExprPtr& e) const {
  const Identifier* name = e ? std::get_if<Identifier>(&e->node) : nullptr;
  std::optional<size_t> index = name ? find(Kind::Expression, name->name) : std::nullopt;
  return index ? type_argument(*index) : nullptr;
}

// sizeof(T), offsetof(T, f) and typeof(T) are parsed as if T were a value; here it may turn out
// to be a type.
void Substitution::take_type(TypeSpec& type, ExprPtr& operand) {
  const TypeSpec* passed = type_argument(operand);
  if (!passed) return;
  TypeSpec taken = clone(*passed, use_.next_id);
  taken.suffixes.insert(taken.suffixes.end(), type.suffixes.begin(), type.suffixes.end());
  operand = nullptr;
  type = std::move(taken);
}

void Substitution::rename(std::string& variable) const {
  std::optional<size_t> index = find(Kind::Variable, variable);
  variable = index ? std::get<Variable>(argument(*index).node).name
                   : fmt::format("{}#{}", variable, use_.number);
}

void Substitution::rename_map(MapAccess& map, Span span) {
  std::optional<size_t> index = find(Kind::Map, map.name);
  if (index) {
    map.name = std::get<MapAccess>(argument(*index).node).name;
    return;
  }
  for (const MapDecl& declared : use_.declared)
    if (declared.name == map.name && declared.span.file == use_.macro.span.file) return;
  use_.error(span,
             fmt::format("macro '{}' uses map '{}', which was not passed to it", use_.macro.name,
                         map.name),
             fmt::format("make '{}' a parameter of the macro", map.name));
}

void Substitution::expr(ExprPtr& e) {
  if (const Identifier* name = std::get_if<Identifier>(&e->node)) {
    if (std::optional<size_t> index = find(Kind::Expression, name->name)) e = place(*index);
    return;
  }
  if (Variable* variable = std::get_if<Variable>(&e->node)) return rename(variable->name);
  if (MapAccess* map = std::get_if<MapAccess>(&e->node)) rename_map(*map, e->span);
  if (Sizeof* size = std::get_if<Sizeof>(&e->node)) {
    if (type_argument(size->operand)) return take_type(size->type, size->operand);
  }
  if (Offsetof* offset = std::get_if<Offsetof>(&e->node)) {
    if (type_argument(offset->operand)) return take_type(offset->type, offset->operand);
  }
  children(*e);
}

void Substitution::stmt(Stmt& s) {
  if (Let* let = std::get_if<Let>(&s.node)) rename(let->name);
  if (ForRange* loop = std::get_if<ForRange>(&s.node)) rename(loop->name);
  if (ForMap* loop = std::get_if<ForMap>(&s.node)) rename(loop->name);
  children(s);
}

void Substitution::type(TypeSpec& t) {
  if (type_argument(t.of)) return take_type(t, t.of);
  std::optional<size_t> index = find(Kind::Expression, t.name);
  if (!index) return children(t);
  const TypeSpec* passed = type_argument(*index);
  if (!passed)
    return use_.error(argument(*index).span,
                      fmt::format("macro '{}' uses its parameter '{}' as a type, found a value",
                                  use_.macro.name, t.name),
                      "pass a type as 'typeof(type)'");
  TypeSpec taken = clone(*passed, use_.next_id);
  taken.suffixes.insert(taken.suffixes.end(), t.suffixes.begin(), t.suffixes.end());
  t = std::move(taken);
}

}  // namespace

Block instantiate(const MacroUse& use) {
  Block body = clone(use.macro.body, use.next_id);
  Substitution(use).rewrite(body);
  return body;
}

}  // namespace flowtap
