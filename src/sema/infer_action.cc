// Calls that are statements; see infer_action.h.

#include "sema/infer_action.h"

#include <fmt/format.h>

#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "types/format.h"

namespace flowtap {

// "SIGKILL", "KILL" or "kill"; 0 for no signal.
int signal_number(std::string_view text) {
  std::string name = to_upper(text);
  if (name.starts_with("SIG")) name = name.substr(3);
  for (int i = 1; i < 65; i++)
    if (const char* abbreviation = ::sigabbrev_np(i); abbreviation && name == abbreviation)
      return i;
  return 0;
}

static constexpr int64_t kMostSignal = 64;

static bool conversion_fits(Conversion conversion, const Type& type) {
  switch (conversion) {
    case Conversion::Signed:
    case Conversion::Unsigned:
    case Conversion::Octal:
    case Conversion::HexLower:
    case Conversion::HexUpper:
    case Conversion::Char:
    case Conversion::Pointer: return is_scalar(type);
    case Conversion::GfpFlags: return is_integer(type);
    case Conversion::Buffer:
    case Conversion::BufferHexEscaped:
    case Conversion::BufferHex: return is(type, Kind::Buffer);
    default: return true;
  }
}

void ActionTypes::check_format(const Expr& expr, const Builtin& builtin,
                               const std::vector<ExprPtr>& args) {
  const std::optional<std::string>& text = info(*args[0]).text;
  if (!text) return;
  Result<std::vector<FormatPiece>> pieces = parse_format(*text);
  if (!pieces) {
    error(args[0]->span, pieces.error().message());
    return;
  }
  size_t next = 1;
  for (const FormatPiece& piece : *pieces) {
    if (piece.conversion == Conversion::None) continue;
    if (next < args.size()) {
      const Expr& arg = *args[next];
      Type type = readable(info(arg).type);
      if (is(type, Kind::None))
        error(arg.span, "this has no value that could be printed");
      else if (is_aggregation(type) && !is(type, Kind::Stats))
        error(arg.span,
              fmt::format("a '{}' value cannot be printed by {}()", type_name(type), builtin.name))
            .with_hint("use print(@map)");
      else if (!is(type, Kind::Unknown) && !conversion_fits(piece.conversion, type))
        error(arg.span, fmt::format("'{}' cannot print a '{}'", piece.text, type_name(type)))
            .with_hint("'%s' prints any value");
    }
    next++;
  }
  size_t wanted = next - 1, given = args.size() - 1;
  if (wanted != given)
    error(expr.span,
          fmt::format("this format takes {}, found {}", counted(wanted, "value"), given));
}

void ActionTypes::check_print(const Expr& expr, const std::vector<ExprPtr>& args) {
  if (auto* word = std::get_if<Identifier>(&args[0]->node))
    if (const TableDecl* table = uses_.rows.find_table(word->name))
      return uses_.rows.check_print_table(expr, *table, args);
  auto* access = std::get_if<MapAccess>(&args[0]->node);
  if (!access) {
    Type type = readable(info(*args[0]).type);
    if (is(type, Kind::None)) error(args[0]->span, "this has no value that could be printed");
    if (args.size() > 1) error(expr.span, "print() takes 'top' and 'div' for whole maps only");
    return;
  }
  MapInfo& map = uses_.stores.reach_map(*args[0]);
  if (access->key) {
    uses_.stores.use_map(*args[0], true);
    info(*args[0]).type = map.value;
    bool is_chart =
        is(map.value, Kind::Hist) || is(map.value, Kind::Lhist) || is(map.value, Kind::Tseries);
    if (is_chart && map.is_scalar == false)
      error(args[0]->span,
            fmt::format("one key of a '{}' map cannot be printed alone", type_name(map.value)))
          .with_hint(fmt::format("print the whole map: print({})", map.name));
    if (args.size() > 1) error(expr.span, "print() takes 'top' and 'div' for whole maps only");
    return;
  }
  for (size_t i = 1; i < args.size(); i++) {
    bool is_div = i == 2;
    if (uses_.arguments.expect_integer(*args[i], "print"))
      uses_.arguments.expect_within(
          *args[i], is_div ? "the divisor of print()" : "the top of print()", is_div, INT64_MAX);
  }
  if (place_.loop_depth > 0)
    warning(expr.span, "the map is printed later, when the loop may have changed it already")
        .with_hint(fmt::format("print single values at once: print({}[key])", map.name));
}

Type ActionTypes::action_type(const Expr& expr, const Builtin& builtin,
                              const std::vector<ExprPtr>& args) {
  switch (builtin.id) {
    case Fn::Printf:
    case Fn::Errorf:
    case Fn::Warnf:
    case Fn::Cat:
    case Fn::System: check_format(expr, builtin, args); break;
    case Fn::Print: check_print(expr, args); break;
    case Fn::Exit:
      if (!args.empty() && uses_.arguments.expect_integer(*args[0], "exit"))
        uses_.arguments.expect_within(*args[0], "the code of exit()", INT8_MIN, UINT8_MAX);
      break;
    case Fn::Join:
      if (!is_scalar(readable(info(*args[0]).type)) && !is(info(*args[0]).type, Kind::Unknown))
        error(args[0]->span, fmt::format("join() takes an array of strings, found '{}'",
                                         type_name(info(*args[0]).type)));
      break;
    case Fn::Assert: uses_.arguments.check_condition(*args[0]); break;
    case Fn::Signal:
    case Fn::SignalThread: {
      const ProbeRow& row = probe_row(place_.instance->kind);
      if (row.has(kRunByFlowtap))
        error(expr.span,
              fmt::format("{}() is not possible in {} probes: there is no process to send it to",
                          builtin.name, row.name));
      if (!info(*args[0]).text) {
        if (uses_.arguments.expect_integer(*args[0], builtin.name))
          uses_.arguments.expect_within(*args[0], "the number of a signal", 1, kMostSignal);
      } else if (!signal_number(*info(*args[0]).text)) {
        error(args[0]->span, fmt::format("there is no signal '{}'", *info(*args[0]).text));
      }
      break;
    }
    case Fn::Override: uses_.kernel_functions.check_override(expr, args); break;
    case Fn::WriteUser: uses_.kernel_functions.check_write_user(expr, args); return bool_type();
    default: UNREACHABLE("an action that is not checked");
  }
  return none_type();
}

}  // namespace flowtap
