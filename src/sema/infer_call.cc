// Inference over calls of builtins that yield a value; actions are in infer_action.cc.

#include "sema/infer_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "types/format.h"
#include "types/layout.h"

namespace flowtap {

// Room for the longest error text, signal or system call name.
static constexpr uint32_t kNameSize = 64;

// The type of a value whose row says it.
static Type yielded_type(Yields yields) {
  switch (yields) {
    case Yields::Own: break;
    case Yields::None: return none_type();
    case Yields::Bool: return bool_type();
    case Yields::U32: return int_type(4, false);
    case Yields::U64: return int_type(8, false);
    case Yields::I64: return int_type(8, true);
    case Yields::Name: return string_type(kNameSize);
    case Yields::Username: return simple_type(Kind::Username, 8);
    case Yields::KSym: return simple_type(Kind::KSym, 8);
    case Yields::USym: return simple_type(Kind::USym, kUSymSize);
    case Yields::CgroupPath: return simple_type(Kind::CgroupPath, kCgroupPathSize);
  }
  UNREACHABLE("a builtin with a type of its own");
}

void CallTypes::infer_call(const Expr& expr, const Call& node, ExprInfo& result) {
  const Builtin* builtin = find_builtin(node.name);
  if (node.name == "typeinfo") return infer_type_info(expr, node, result);
  if (!builtin) {
    for (const ExprPtr& arg : node.args) uses_.expressions.infer(*arg);
    std::vector<std::string> names;
    for (const Builtin& row : all_builtins()) names.emplace_back(row.name);
    Diagnostic& report = error(expr.span, fmt::format("there is no function '{}'", node.name));
    if (auto near = nearest(node.name, names))
      report.with_hint(fmt::format("did you mean '{}'?", *near));
    else if (node.name.starts_with("S_IS"))
      report.with_hint(fmt::format("write it as: (mode & S_IFMT) == S_IF{}", node.name.substr(4)));
    return;
  }
  infer_builtin(expr, *builtin, node.args, node.name, result);
}

// typeinfo(type or expression): a record of constants.
void CallTypes::infer_type_info(const Expr& expr, const Call& node, ExprInfo& result) {
  if (program_.config.unstable_typeinfo == Unstable::Error)
    error(expr.span, "'typeinfo' is switched off, since it may still change")
        .with_hint("switch it on: config = { unstable_typeinfo = enable }");
  else if (program_.config.unstable_typeinfo == Unstable::Warn)
    warning(expr.span, "'typeinfo' may still change")
        .with_hint("config = { unstable_typeinfo = enable } silences this");
  Type type = uses_.types.resolve_type(std::get<Typeof>(node.args[0]->node).type);
  info(*node.args[0]).type = type;
  if (!is(type, Kind::Unknown)) result.type = type_info_record(type);
}

void CallTypes::infer_builtin(const Expr& expr, const Builtin& builtin,
                              const std::vector<ExprPtr>& args, std::string_view name,
                              ExprInfo& result) {
  result.builtin = &builtin;
  size_t n = args.size();
  if (n < builtin.min_args || n > builtin.max_args) {
    for (const ExprPtr& arg : args) uses_.expressions.infer(*arg);
    error(expr.span, fmt::format("{}() does not take {}", builtin.name, counted(n, "argument")))
        .with_hint(fmt::format("use it as: {}", builtin.usage));
    return;
  }
  if (builtin.has(kUnsafe) && !input_.options.is_unsafe) {
    for (const ExprPtr& arg : args) uses_.expressions.infer(*arg);
    error(expr.span,
          fmt::format("{}() can change the system and needs the option --unsafe", builtin.name));
    return;
  }
  if (place_.function && builtin.has(kOfProbe)) {
    for (const ExprPtr& arg : args) uses_.expressions.infer(*arg);
    error(expr.span, fmt::format("'{}' is not known in a function, which any probe may call", name))
        .with_hint("pass it as an argument");
    return;
  }
  for (size_t i = 0; i < n; i++) infer_argument(*args[i], builtin.wanted(i));
  for (size_t i = 0; i < n; i++) check_argument(*args[i], builtin.wanted(i), builtin.name);
  if (uses_.folded.infer_folded(expr, builtin, args, result)) return;
  Type type = builtin.yields == Yields::Own ? builtin_type(expr, builtin, args, name)
                                            : yielded_type(builtin.yields);
  info(expr).type = type;
}

// Names, words and whole maps are no expressions.
void CallTypes::infer_argument(const Expr& arg, Wants wanted) {
  bool is_word = std::holds_alternative<Identifier>(arg.node);
  bool is_map = std::holds_alternative<MapAccess>(arg.node);
  bool is_none = wanted == Wants::Name || (wanted == Wants::Word && is_word) ||
                 (wanted == Wants::Map && is_map) ||
                 (wanted == Wants::Printed && (is_map || uses_.rows.find_table(word_of(arg))));
  if (is_none) return;
  bool outer = std::exchange(place_.is_for_compiler, wanted == Wants::Text);
  uses_.expressions.infer(arg);
  place_.is_for_compiler = outer;
}

void CallTypes::check_argument(const Expr& arg, Wants wanted, std::string_view function) {
  switch (wanted) {
    case Wants::Integer: uses_.arguments.expect_integer(arg, function); break;
    case Wants::Address: uses_.arguments.expect_address(arg, function); break;
    case Wants::String: uses_.arguments.expect_string(arg, function); break;
    case Wants::Text: uses_.arguments.expect_literal_text(arg, function); break;
    case Wants::Checked:
    case Wants::Word:
    case Wants::Name:
    case Wants::Map:
    case Wants::Key:
    case Wants::Printed: break;
  }
}

Type CallTypes::builtin_type(const Expr& expr, const Builtin& builtin,
                             const std::vector<ExprPtr>& args, std::string_view name) {
  switch (builtin.family) {
    case BuiltinFamily::Value: return value_type(builtin, args);
    case BuiltinFamily::Task: return uses_.context.task_type(expr, builtin, args);
    case BuiltinFamily::Context: return uses_.context.context_type(expr, builtin, args, name);
    case BuiltinFamily::Stack: return uses_.context.stack_call_type(expr, builtin, args);
    case BuiltinFamily::Function:
      return uses_.memory_functions.memory_function_type(expr, builtin, args);
    case BuiltinFamily::Action: return uses_.actions.action_type(expr, builtin, args);
    case BuiltinFamily::Map: return uses_.map_functions.map_function_type(expr, builtin, args);
    case BuiltinFamily::Aggregation:
      return uses_.map_functions.aggregation_type(expr, builtin, args);
  }
  UNREACHABLE("a family of builtins that nobody checks");
}

Type CallTypes::value_type(const Builtin& builtin, const std::vector<ExprPtr>& args) {
  switch (builtin.id) {
    case Fn::Pid:
    case Fn::Tid:
      if (!args.empty() && word_of(*args[0]) != "init" && word_of(*args[0]) != "curr_ns")
        error(args[0]->span, fmt::format("{}() takes 'init' or 'curr_ns'", builtin.name));
      return int_type(4, false);
    case Fn::Nsecs: {
      std::string clock = args.empty() ? "boot" : word_of(*args[0]);
      if (clock != "boot" && clock != "monotonic" && clock != "tai" && clock != "sw_tai")
        error(args[0]->span, "nsecs() takes 'boot', 'monotonic', 'tai' or 'sw_tai'");
      return int_type(8, false);
    }
    case Fn::Config: return config_type();
    case Fn::ProbeName:
      return string_type(static_cast<uint32_t>(place_.instance->attach[0].name.size() + 1));
    case Fn::ProbeType:
      return string_type(static_cast<uint32_t>(probe_type_name(place_.instance->kind).size() + 1));
    default: UNREACHABLE("a value whose type is not known");
  }
}

// All settings as one record.
Type CallTypes::config_type() {
  std::vector<std::pair<std::string, Type>> fields;
  for (const std::string& key : config_keys()) {
    ConfigValue value = *config_value(program_.config, key);
    fields.emplace_back(key, !value.number
                                 ? string_type(static_cast<uint32_t>(value.text.size() + 1))
                             : value.is_bool ? bool_type()
                                             : int_type(8, false));
  }
  return record_type(std::move(fields));
}

}  // namespace flowtap
