// Positional parameters. Way in: expand_parameters().
//
// `$1` becomes a literal: an integer if the word given on the command line is one, else a string.
// `str($1)` is the word itself in any case. Adding to a string drops that many characters from its
// front, as adding to a pointer would in C: `str($1 + 2)` is "cd" for the word "abcd".
// In attach points parameters are replaced as text.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "lang/c_constant.h"
#include "lang/expand.h"
#include "lang/integer.h"
#include "lang/raw_text.h"
#include "lang/rewriter.h"

namespace flowtap {

namespace {

std::optional<int64_t> constant_value(const Expr& expr) {
  ConstantContext no_names;
  no_names.lookup = [](const std::string&) { return std::nullopt; };
  return evaluate_constant(expr, no_names);
}

// Any form of literal is a number here, durations such as 10ms too.
std::optional<int64_t> number_in(const std::string& text) {
  if (std::optional<int64_t> number = parse_number(text)) return number;
  auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  bool is_word = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) &&
                 std::all_of(text.begin(), text.end(), is_part);
  if (!is_word) return std::nullopt;
  IntegerText number = parse_integer_text(text);
  if (!number.error.empty()) return std::nullopt;
  return static_cast<int64_t>(number.value);
}

class ParameterExpander : public Rewriter {
 public:
  ParameterExpander(Ast& ast, const Parameters& parameters, Diagnostics& diagnostics)
      : ast_(ast), parameters_(parameters), diagnostics_(diagnostics) {}

  void expand_attach_point(AttachSpec& attach);

 protected:
  void expr(ExprPtr& e) override;

 private:
  const std::string* find(uint32_t number) const;
  const std::string& text_of(uint32_t number, Span span, std::string_view instead);
  bool take_text(Expr& e);
  bool take_tail(Expr& e, bool even_if_number);
  void take_value(Expr& e);
  size_t attach_parameter(Span span, std::string_view rest, std::string& part);

  Ast& ast_;
  const Parameters& parameters_;
  Diagnostics& diagnostics_;
  const std::string empty_;
};

// Nothing if it was not given.
const std::string* ParameterExpander::find(uint32_t number) const {
  return number <= parameters_.values.size() ? &parameters_.values[number - 1] : nullptr;
}

const std::string& ParameterExpander::text_of(uint32_t number, Span span,
                                              std::string_view instead) {
  if (const std::string* text = find(number)) return *text;
  diagnostics_.warning(
      span, fmt::format("parameter '${}' was not given, using {} instead", number, instead));
  return empty_;
}

void ParameterExpander::expr(ExprPtr& e) {
  // Here the one function matters whose argument is text even if it looks like a number.
  if (Call* call = std::get_if<Call>(&e->node); call && call->name == "str" && !call->args.empty())
    if (take_text(*call->args[0]) || take_tail(*call->args[0], true)) {
      for (size_t i = 1; i < call->args.size(); i++) expr(call->args[i]);
      return;
    }
  if (take_tail(*e, false)) return;
  if (std::holds_alternative<Parameter>(e->node)) return take_value(*e);
  children(*e);
}

// $1, as text.
bool ParameterExpander::take_text(Expr& e) {
  const Parameter* parameter = std::get_if<Parameter>(&e.node);
  if (!parameter || parameter->number == 0) return false;
  e.node = StringLiteral{text_of(parameter->number, e.span, "\"\"")};
  return true;
}

// $1 + constant, as text without its first characters.
bool ParameterExpander::take_tail(Expr& e, bool even_if_number) {
  const Binary* sum = std::get_if<Binary>(&e.node);
  if (!sum || sum->op != BinaryOp::Add) return false;
  const Parameter* parameter = std::get_if<Parameter>(&sum->left->node);
  if (!parameter || parameter->number == 0) return false;
  std::optional<int64_t> skipped = constant_value(*sum->right);
  if (!skipped || *skipped < 0) return false;
  const std::string* given = find(parameter->number);
  bool is_text = even_if_number || (given && !number_in(*given));
  if (!is_text) return false;

  const std::string& text = text_of(parameter->number, sum->left->span, "\"\"");
  uint64_t skip = static_cast<uint64_t>(*skipped);
  if (given && skip >= text.size())
    diagnostics_.warning(e.span, fmt::format("this string is always empty: parameter '${}' has {}",
                                             parameter->number, counted(text.size(), "character")));
  e.node = StringLiteral{skip < text.size() ? text.substr(skip) : ""};
  return true;
}

// $1 or $#, as the literal it stands for.
void ParameterExpander::take_value(Expr& e) {
  uint32_t number = std::get<Parameter>(e.node).number;
  if (number == 0) {
    e.node = IntegerLiteral{parameters_.values.size()};
    return;
  }
  const std::string& text = text_of(number, e.span, "0");
  std::optional<int64_t> value = text.empty() ? 0 : number_in(text);
  if (!value) {
    e.node = StringLiteral{text};
  } else if (text.starts_with('-')) {
    auto positive = std::make_unique<Expr>();
    positive->id = ast_.next_id++;
    positive->span = e.span;
    positive->node = IntegerLiteral{0 - static_cast<uint64_t>(*value)};
    e.node = Unary{UnaryOp::Negate, std::move(positive)};
  } else {
    e.node = IntegerLiteral{static_cast<uint64_t>(*value)};
  }
}

void ParameterExpander::expand_attach_point(AttachSpec& attach) {
  if (attach.text.find('$') == std::string::npos) return;
  AttachParameter replace = [&](std::string_view rest, std::string& part) {
    return attach_parameter(attach.span, rest, part);
  };
  attach.parts = split_attach_point(attach.text, replace);
}

// `rest` begins with '$'; how much of it was the parameter.
size_t ParameterExpander::attach_parameter(Span span, std::string_view rest, std::string& part) {
  size_t end = 1;
  uint32_t number = 0;
  while (end < rest.size() && end < 6 && rest[end] >= '0' && rest[end] <= '9')
    number = number * 10 + static_cast<uint32_t>(rest[end++] - '0');
  if (rest.starts_with("$#")) {
    part += std::to_string(parameters_.values.size());
    return 2;
  }
  if (number == 0) {
    diagnostics_.error(span, "only parameters such as '$1' can stand in an attach point")
        .with_hint("put quotes around a name that holds a '$'");
  } else if (const std::string* text = find(number)) {
    part += *text;
  } else {
    diagnostics_.error(
        span, fmt::format("this attach point needs parameter '${}', which was not given", number));
  }
  return end;
}

}  // namespace

void expand_parameters(Ast& ast, const Parameters& parameters, Diagnostics& diagnostics) {
  ParameterExpander expander(ast, parameters, diagnostics);
  for (Probe& probe : ast.probes) {
    diagnostics.set_plan(probe.plan);
    for (AttachSpec& attach : probe.attach) expander.expand_attach_point(attach);
    expander.rewrite(probe);
  }
  diagnostics.set_plan(-1);
  for (ExprPtr& call : ast.uncalled) expander.rewrite(call);
}

}  // namespace flowtap
