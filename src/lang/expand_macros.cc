// Macros, functions and #defines. Way in: expand_macros().
//
// Arguments are expanded first, where they stand; then the definition whose parameters fit best
// is chosen, its body is made for this call (macro_body.cc) and is itself expanded. A macro that
// is met again while its own body is being expanded would never end, which is an error.
// The call becomes a block expression, or just the value if the body is nothing else. Functions go
// the same way, but stay calls (FnCall): they have types, and 'return' ends them.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "lang/expand.h"
#include "lang/fn_body.h"
#include "lang/macro_body.h"
#include "lang/parser.h"
#include "lang/rewriter.h"

namespace flowtap {

namespace {

using Kind = MacroParam::Kind;

// Macros that use others twice double with each level; these stop them.
constexpr uint32_t kMostNodes = 200'000;
constexpr size_t kMostLevels = 50;
constexpr int kMostHeight = 2400;

std::string signature(const Macro& macro) {
  std::vector<std::string> params;
  for (const MacroParam& param : macro.params)
    params.push_back((param.kind == Kind::Variable ? "$" : "") + param.name);
  return fmt::format("{}({})", macro.name, join(params, ", "));
}

bool has_same_signature(const Macro& a, const Macro& b) {
  auto same_kind = [](const MacroParam& x, const MacroParam& y) { return x.kind == y.kind; };
  return a.name == b.name &&
         std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(), same_kind);
}

bool fits(const MacroParam& param, const Expr& arg) {
  const MapAccess* map = std::get_if<MapAccess>(&arg.node);
  switch (param.kind) {
    case Kind::Variable: return std::holds_alternative<Variable>(arg.node);
    case Kind::Map: return map && !map->key;
    case Kind::Expression: return true;
  }
  return false;
}

// How well a definition fits a call: one point for each `$v` or `@m`; -1 if it does not.
int fitness(const Macro& macro, const std::vector<ExprPtr>& args) {
  if (macro.params.size() != args.size()) return -1;
  int points = 0;
  for (size_t i = 0; i < args.size(); i++) {
    if (!fits(macro.params[i], *args[i])) return -1;
    points += macro.params[i].kind != Kind::Expression;
  }
  return points;
}

class Expander : public Rewriter {
 public:
  Expander(Ast& ast, std::span<const CDefine> defines, Diagnostics& diagnostics)
      : ast_(ast), defines_(defines), diagnostics_(diagnostics), limit_(ast.next_id + kMostNodes) {}

  void check_definitions();
  void expand_uncalled();

 protected:
  void expr(ExprPtr& e) override;

 private:
  // A macro, #define or function that is being expanded; one of them is set.
  struct Level {
    const Macro* macro = nullptr;
    const CDefine* define = nullptr;
    const Function* function = nullptr;
    Span use;
    const std::string& name() const {
      return macro ? macro->name : function ? function->name : define->name;
    }
  };

  void expand_expr(ExprPtr& e);
  [[gnu::noinline]] void expand_name(ExprPtr& e);
  [[gnu::noinline]] void expand_named_call(ExprPtr& e);
  const Function* find_function(const std::string& name) const;
  void expand_function(ExprPtr& e, const Function& function, std::vector<ExprPtr>& args);
  void expand_body(ExprPtr& e, const Function& function, std::vector<ExprPtr>* args);
  const CDefine* find_define(const std::string& name) const;
  bool is_macro(const std::string& name) const;
  const Macro* choose(const std::string& name, const std::vector<ExprPtr>& args) const;
  void expand_call(ExprPtr& e, const std::string& name, std::vector<ExprPtr>& args);
  void expand_define(ExprPtr& e, const CDefine& define);
  void expand_level(ExprPtr& e, ExprPtr replacement, Level level, uint32_t first_id);
  bool is_within_limits(Span use);
  bool is_recursive(const Level& level);
  bool is_open(const CDefine& define) const;
  Diagnostic& error(Span span, std::string message);

  Ast& ast_;
  std::span<const CDefine> defines_;
  Diagnostics& diagnostics_;
  uint32_t limit_;
  uint32_t uses_ = 0;
  int depth_ = 0;
  bool is_stopped_ = false;  // a limit was met and reported
  std::vector<Level> levels_;
  std::set<const Function*> called_;
};

// An error, and through which macros we came to it.
Diagnostic& Expander::error(Span span, std::string message) {
  Diagnostic& diagnostic = diagnostics_.error(span, std::move(message));
  if (!diagnostic.notes.empty()) return diagnostic;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    diagnostic.with_note(level->use, level->function
                                         ? fmt::format("'{}' is called here", level->name())
                                         : fmt::format("expanded from '{}' here", level->name()));
  return diagnostic;
}

// A macro may be defined again in another file: the script's own wins over an imported one.
void Expander::check_definitions() {
  for (size_t i = 0; i < ast_.macros.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      const Macro &first = ast_.macros[j], &second = ast_.macros[i];
      if (first.span.file != second.span.file || !has_same_signature(first, second)) continue;
      error(second.span, fmt::format("macro '{}' is defined twice", signature(second)))
          .with_note(first.span, "first defined here");
    }
  }
  for (size_t i = 0; i < ast_.functions.size(); i++) {
    const Function& second = ast_.functions[i];
    for (const Macro& first : ast_.macros)
      if (first.name == second.name && first.span.file == second.span.file)
        error(second.span, fmt::format("there is a macro '{}' already", second.name))
            .with_note(first.span, "it is defined here");
    for (size_t j = 0; j < i; j++) {
      const Function& first = ast_.functions[j];
      if (first.name == second.name && first.span.file == second.span.file)
        error(second.span, fmt::format("function '{}' is declared twice", second.name))
            .with_note(first.span, "first declared here");
    }
  }
}

const CDefine* Expander::find_define(const std::string& name) const {
  for (const CDefine& define : defines_)
    if (define.name == name && !define.is_function) return &define;
  return nullptr;
}

bool Expander::is_macro(const std::string& name) const {
  return std::any_of(ast_.macros.begin(), ast_.macros.end(),
                     [&](const Macro& macro) { return macro.name == name; });
}

const Macro* Expander::choose(const std::string& name, const std::vector<ExprPtr>& args) const {
  const Macro* best = nullptr;
  int best_fitness = -1;
  for (const Macro& macro : ast_.macros) {
    if (macro.name != name) continue;
    int points = fitness(macro, args);
    bool is_nearer = best && points == best_fitness && macro.span.file < best->span.file;
    if (points < 0 || (points <= best_fitness && !is_nearer)) continue;
    best = &macro;
    best_fitness = points;
  }
  return best;
}

void Expander::expr(ExprPtr& e) {
  if (depth_ >= kMostHeight) {
    error(e->span, "this is nested too deeply once its macros are expanded");
    return;
  }
  depth_++;
  expand_expr(e);
  depth_--;
}

// Goes down as deep as expressions are nested, so what it puts on the stack counts.
void Expander::expand_expr(ExprPtr& e) {
  if (std::holds_alternative<Identifier>(e->node)) return expand_name(e);
  children(*e);
  if (std::holds_alternative<Call>(e->node)) expand_named_call(e);
}

void Expander::expand_name(ExprPtr& e) {
  std::string name = std::get<Identifier>(e->node).name;
  std::vector<ExprPtr> none;
  if (choose(name, none)) return expand_call(e, name, none);
  const CDefine* define = find_define(name);
  if (define && !is_open(*define)) expand_define(e, *define);
}

void Expander::expand_named_call(ExprPtr& e) {
  Call& call = std::get<Call>(e->node);
  if (is_macro(call.name)) return expand_call(e, std::string(call.name), call.args);
  if (const Function* function = find_function(call.name)) expand_function(e, *function, call.args);
}

// The script's own wins over an imported one, as with macros.
const Function* Expander::find_function(const std::string& name) const {
  const Function* found = nullptr;
  for (const Function& function : ast_.functions)
    if (function.name == name && (!found || function.span.file < found->span.file))
      found = &function;
  return found;
}

void Expander::expand_function(ExprPtr& e, const Function& function, std::vector<ExprPtr>& args) {
  called_.insert(&function);
  size_t takes = function.params.size();
  if (args.size() != takes) {
    error(e->span, fmt::format("'{}' takes {}, found {}", function.name, counted(takes, "argument"),
                               args.size()))
        .with_note(function.span, "it is declared here");
    return;
  }
  Level level{.macro = nullptr, .define = nullptr, .function = &function, .use = e->span};
  if (is_recursive(level) || !is_within_limits(e->span)) return;
  expand_body(e, function, &args);
}

// Arguments are expanded already, and belong to the caller: only the body is left.
void Expander::expand_body(ExprPtr& e, const Function& function, std::vector<ExprPtr>* args) {
  FnCall call = instantiate(function, args, ++uses_, ast_.next_id);
  levels_.push_back({.macro = nullptr, .define = nullptr, .function = &function, .use = e->span});
  rewrite(call.body);
  levels_.pop_back();
  e = std::make_unique<Expr>(Expr{ast_.next_id++, e->span, std::move(call)});
  if (tree_height(e) <= kMostHeight) return;
  error(e->span, "this is nested too deeply once its functions are put in");
  e = std::make_unique<Expr>(Expr{ast_.next_id++, e->span, IntegerLiteral{0}});
}

// No probe calls these, but mistakes in them are mistakes.
void Expander::expand_uncalled() {
  for (const Function& function : ast_.functions) {
    if (called_.contains(&function)) continue;
    Expr place{.span = function.span};
    ExprPtr call = std::make_unique<Expr>(std::move(place));
    expand_body(call, function, nullptr);
    ast_.uncalled.push_back(std::move(call));
  }
}

void Expander::expand_call(ExprPtr& e, const std::string& name, std::vector<ExprPtr>& args) {
  const Macro* macro = choose(name, args);
  if (!macro) {
    Diagnostic& message =
        error(e->span, fmt::format("no definition of macro '{}' takes these arguments", name));
    for (const Macro& other : ast_.macros)
      if (other.name == name)
        message.with_note(other.span, fmt::format("'{}' is defined here", signature(other)));
    return;
  }
  Level level{.macro = macro, .define = nullptr, .function = nullptr, .use = e->span};
  if (is_recursive(level) || !is_within_limits(e->span)) return;
  levels_.push_back(level);
  uint32_t first_id = ast_.next_id;
  auto report = [&](Span span, std::string message, std::string hint) {
    error(span, std::move(message)).with_hint(std::move(hint));
  };
  Block body = instantiate({*macro, ast_.map_decls, args, ++uses_, ast_.next_id, limit_, report});
  levels_.pop_back();

  ExprPtr value;
  if (body.stmts.empty() && body.result) {
    value = std::move(body.result);
  } else {
    value = std::make_unique<Expr>(Expr{ast_.next_id++, e->span, BlockExpr{std::move(body)}});
  }
  expand_level(e, std::move(value), level, first_id);
}

//   #define NAME expression
void Expander::expand_define(ExprPtr& e, const CDefine& define) {
  if (!is_within_limits(e->span)) return;
  Diagnostics ignored;
  uint32_t first_id = ast_.next_id;
  ParseOptions options;
  options.is_builtin = [this](std::string_view name) { return find_define(std::string(name)); };
  ExprPtr value = parse_expression(define.text, define.span, ast_.next_id, ignored, options);
  if (!value) {
    error(e->span, fmt::format("'{}' does not stand for an expression", define.name))
        .with_note(define.span, "it is defined here");
    return;
  }
  // The place of use says more than the place of definition, which the notes give.
  value->span = e->span;
  Level level{.macro = nullptr, .define = &define, .function = nullptr, .use = e->span};
  expand_level(e, std::move(value), level, first_id);
}

// Expands what a macro or #define was replaced by, and puts it in place of `e`.
void Expander::expand_level(ExprPtr& e, ExprPtr replacement, Level level, uint32_t first_id) {
  Span use = e->span;
  levels_.push_back(level);
  expr(replacement);
  levels_.pop_back();
  if (tree_height(replacement) > kMostHeight) {
    error(use, "this is nested too deeply once its macros are expanded");
    replacement = std::make_unique<Expr>(Expr{ast_.next_id++, use, IntegerLiteral{0}});
  }
  e = std::move(replacement);
  ast_.expansions.push_back({first_id, ast_.next_id, use, level.name()});
}

bool Expander::is_within_limits(Span use) {
  if (levels_.size() < kMostLevels && ast_.next_id < limit_) return true;
  if (std::exchange(is_stopped_, true)) return false;
  diagnostics_.set_plan(-1);  // what follows is not expanded, whatever its plan
  error(use, levels_.size() < kMostLevels
                 ? fmt::format("macros and functions grow to more than {} expressions", kMostNodes)
                 : fmt::format("macros and functions use each other more than {} levels deep",
                               kMostLevels));
  return false;
}

bool Expander::is_open(const CDefine& define) const {
  return std::any_of(levels_.begin(), levels_.end(),
                     [&](const Level& level) { return level.define == &define; });
}

bool Expander::is_recursive(const Level& next) {
  auto is_same = [&](const Level& level) {
    return level.macro == next.macro && level.function == next.function;
  };
  auto first = std::find_if(levels_.begin(), levels_.end(), is_same);
  if (first == levels_.end()) return false;
  std::string chain;
  for (auto level = first; level != levels_.end(); ++level) chain += level->name() + " > ";
  error(next.use, fmt::format("{0} '{1}' {3} itself: {2}{1}", next.macro ? "macro" : "function",
                              next.name(), chain, next.macro ? "uses" : "calls"));
  return true;
}

}  // namespace

void expand_macros(Ast& ast, std::span<const CDefine> defines, Diagnostics& diagnostics) {
  Expander expander(ast, defines, diagnostics);
  expander.check_definitions();
  for (Probe& probe : ast.probes) {
    diagnostics.set_plan(probe.plan);
    expander.rewrite(probe);
  }
  diagnostics.set_plan(-1);
  expander.expand_uncalled();
}

}  // namespace flowtap
