// Inference over actions, map functions and aggregations; see infer.h.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "builtins/probes.h"
#include "sema/infer.h"
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

// --- aggregations -----------------------------------------------------------------------------
static Type make_aggregation(TypeData data) {
  return std::make_shared<const TypeData>(std::move(data));
}

static constexpr uint32_t kMostBuckets = 1000;
static constexpr int64_t kMostSignal = 64;

Type Inferrer::aggregation_type(const Expr& expr, const Builtin& builtin,
                                const std::vector<ExprPtr>& args) {
  if (&expr != aggregate_) {
    error(expr.span, fmt::format("{}() must be assigned directly to a map", builtin.name));
    return unknown_type();
  }
  if (builtin.id == Fn::Count) return simple_type(Kind::Count, 8);
  if (!expect_integer(*args[0], builtin.name)) return unknown_type();
  bool is_signed = readable(info(*args[0]).type)->is_signed;
  switch (builtin.id) {
    case Fn::Sum: return simple_type(Kind::Sum, 8, is_signed);
    case Fn::Min: return simple_type(Kind::Min, 16, is_signed);
    case Fn::Max: return simple_type(Kind::Max, 16, is_signed);
    case Fn::Avg: return simple_type(Kind::Avg, 16, is_signed);
    case Fn::Stats: return simple_type(Kind::Stats, 16, is_signed);
    default: break;
  }
  TypeData data;
  if (builtin.id == Fn::Hist) {
    data.kind = Kind::Hist;
    int64_t bits = args.size() > 1 ? expect_literal_number(*args[1], "hist").value_or(0) : 0;
    if (args.size() > 1 && !expect_within(*args[1], "the bits of hist()", 0, 5)) bits = 0;
    data.bits = static_cast<uint32_t>(bits);
    data.size = 8 * hist_buckets(data);
    return make_aggregation(std::move(data));
  }
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < args.size() && i < 4; i++) {
    if (i == 3 && builtin.id == Fn::Tseries) break;
    std::optional<int64_t> number = expect_literal_number(*args[i], builtin.name);
    if (!number) return unknown_type();
    numbers.push_back(*number);
  }
  if (builtin.id == Fn::Lhist) {
    int64_t min = numbers[0], max = numbers[1], step = numbers[2];
    uint64_t range = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
    uint64_t buckets = step < 1 ? 0 : range / static_cast<uint64_t>(step);
    std::string wrong;
    if (step < 1)
      wrong = fmt::format("the step of lhist() must be 1 or more, found {}", step);
    else if (min >= max)
      wrong = fmt::format("the minimum of lhist() must be below its maximum, found {} and {}", min,
                          max);
    else if (buckets == 0)
      wrong = fmt::format("the step {} of lhist() is larger than its range {}", step, range);
    else if (buckets > kMostBuckets)
      wrong =
          fmt::format("lhist() has at most {} buckets, this one needs {}", kMostBuckets, buckets);
    if (!wrong.empty()) {
      error(expr.span, wrong);
      return unknown_type();
    }
    data.kind = Kind::Lhist;
    data.min = min, data.max = max, data.step = step;
    data.size = 8 * hist_buckets(data);
    return make_aggregation(std::move(data));
  }
  data.kind = Kind::Tseries;
  data.is_signed = is_signed;
  data.min = numbers[0];
  data.max = numbers[1];
  expect_within(*args[1], "the interval of tseries()", 1, INT64_MAX);
  expect_within(*args[2], "the number of intervals of tseries()", 1, kMostBuckets);
  if (args.size() > 3) {
    std::optional<std::string> how = expect_literal_text(*args[3], "tseries");
    if (how == "avg")
      data.agg = TseriesAgg::Avg;
    else if (how == "max")
      data.agg = TseriesAgg::Max;
    else if (how == "min")
      data.agg = TseriesAgg::Min;
    else if (how == "sum")
      data.agg = TseriesAgg::Sum;
    else if (how)
      error(args[3]->span,
            fmt::format("tseries() can take 'avg', 'max', 'min' or 'sum', found '{}'", *how));
  }
  if (program_.config.unstable_tseries == Unstable::Error)
    error(expr.span, "tseries() is switched off")
        .with_hint("set unstable_tseries = enable in the config block");
  else if (program_.config.unstable_tseries == Unstable::Warn)
    warning(expr.span, "tseries() may still change")
        .with_hint("config = { unstable_tseries = enable } silences this");
  data.size =
      static_cast<uint32_t>(std::clamp<int64_t>(data.max, 1, kMostBuckets)) * kTseriesBucketSize;
  return make_aggregation(std::move(data));
}

// --- maps ---------------------------------------------------------------------------------------
const Expr* Inferrer::expect_map(const Expr& arg, std::string_view function) {
  if (std::holds_alternative<MapAccess>(arg.node)) return &arg;
  error(arg.span, fmt::format("{}() takes a map here", function));
  return nullptr;
}

Type Inferrer::map_function_type(const Expr& expr, const Builtin& builtin,
                                 const std::vector<ExprPtr>& args) {
  if (builtin.id == Fn::Len && !std::holds_alternative<MapAccess>(args[0]->node)) {
    const Type& type = info(*args[0]).type;
    bool is_stack = is(type, Kind::KStack) || is(type, Kind::UStack);
    if (!is_stack && !is(type, Kind::Unknown))
      error(args[0]->span,
            fmt::format("len() takes a map or a stack, found '{}'", type_name(type)));
    return int_type(8, true);
  }
  const Expr* access = expect_map(*args[0], builtin.name);
  if (!access) return unknown_type();
  const ExprPtr& own_key = std::get<MapAccess>(access->node).key;
  MapInfo& map = reach_map(*access);
  if (own_key && args.size() > 1) {
    error(expr.span,
          fmt::format("{}() takes the map and its key apart, one key at a time", builtin.name))
        .with_hint(fmt::format("use it as: {}", builtin.usage));
    return unknown_type();
  }
  switch (builtin.id) {
    case Fn::Clear:
    case Fn::Zero:
    case Fn::Len:
      if (own_key)
        error(access->span, fmt::format("{}() takes a whole map", builtin.name))
            .with_hint(fmt::format("write {}({})", builtin.name, map.name));
      return builtin.id == Fn::Len ? int_type(8, true) : none_type();
    case Fn::Delete:
      if (args.size() == 2) {
        use_map(*access, true);
        use_key(map, *args[1]);
      } else {
        use_map(*access, own_key != nullptr);
      }
      return bool_type();
    case Fn::HasKey:
      use_map(*access, true);
      use_key(map, *args[1]);
      return bool_type();
    default: {  // find
      use_map(*access, true);
      use_key(map, *args[1]);
      if (!std::holds_alternative<Variable>(args[2]->node))
        error(args[2]->span, "find() stores into a variable");
      else if (int variable = info(*args[2]).variable;
               variable >= 0 && !is(map.value, Kind::Unknown))
        assign_variable_type(variable, {readable(map.value)}, args[2]->span);
      return bool_type();
    }
  }
}

// --- printing -----------------------------------------------------------------------------------
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

void Inferrer::check_format(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args) {
  std::optional<std::string> text = expect_literal_text(*args[0], builtin.name);
  if (!text) return;
  Result<std::vector<FormatPiece>> pieces = parse_format(*text);
  if (!pieces.ok()) {
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
    error(expr.span, fmt::format("this format takes {} value{}, found {}", wanted,
                                 wanted == 1 ? "" : "s", given));
}

void Inferrer::check_print(const Expr& expr, const std::vector<ExprPtr>& args) {
  if (auto* word = std::get_if<Identifier>(&args[0]->node))
    if (const TableDecl* table = find_table(word->name))
      return check_print_table(expr, *table, args);
  auto* access = std::get_if<MapAccess>(&args[0]->node);
  if (!access) {
    Type type = readable(info(*args[0]).type);
    if (is(type, Kind::None)) error(args[0]->span, "this has no value that could be printed");
    if (args.size() > 1) error(expr.span, "print() takes 'top' and 'div' for whole maps only");
    return;
  }
  MapInfo& map = reach_map(*args[0]);
  if (access->key) {
    use_map(*args[0], true);
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
    if (expect_integer(*args[i], "print"))
      expect_within(*args[i], is_div ? "the divisor of print()" : "the top of print()", is_div,
                    INT64_MAX);
  }
  if (loop_depth_ > 0)
    warning(expr.span, "the map is printed later, when the loop may have changed it already")
        .with_hint(fmt::format("print single values at once: print({}[key])", map.name));
}

Type Inferrer::action_type(const Expr& expr, const Builtin& builtin,
                           const std::vector<ExprPtr>& args) {
  switch (builtin.id) {
    case Fn::Printf:
    case Fn::Errorf:
    case Fn::Warnf:
    case Fn::Cat:
    case Fn::System: check_format(expr, builtin, args); break;
    case Fn::Print: check_print(expr, args); break;
    case Fn::Exit:
      if (!args.empty() && expect_integer(*args[0], "exit"))
        expect_within(*args[0], "the code of exit()", INT8_MIN, UINT8_MAX);
      break;
    case Fn::Time:
      if (!args.empty()) expect_literal_text(*args[0], "time");
      break;
    case Fn::Join:
      if (!is_scalar(readable(info(*args[0]).type)) && !is(info(*args[0]).type, Kind::Unknown))
        error(args[0]->span, fmt::format("join() takes an array of strings, found '{}'",
                                         type_name(info(*args[0]).type)));
      if (args.size() > 1) expect_literal_text(*args[1], "join");
      break;
    case Fn::Assert:
      check_condition(*args[0]);
      expect_literal_text(*args[1], "assert");
      break;
    case Fn::Signal:
    case Fn::SignalThread: {
      const ProbeRow& row = probe_row(instance_->kind);
      if (row.has(kRunByFlowtap))
        error(expr.span,
              fmt::format("{}() is not possible in {} probes: there is no process to send it to",
                          builtin.name, row.name));
      if (!info(*args[0]).text) {
        if (expect_integer(*args[0], builtin.name))
          expect_within(*args[0], "the number of a signal", 1, kMostSignal);
      } else if (!signal_number(*info(*args[0]).text)) {
        error(args[0]->span, fmt::format("there is no signal '{}'", *info(*args[0]).text));
      }
      break;
    }
    case Fn::Override: check_override(expr, args); break;
    case Fn::WriteUser: check_write_user(expr, args); return bool_type();
    case Fn::Unwatch: expect_address(*args[0], "unwatch"); break;
    default: error(expr.span, fmt::format("{}() is not available yet", builtin.name));
  }
  return none_type();
}

Type Inferrer::getopt_type(const Expr& expr, const std::vector<ExprPtr>& args, ExprInfo& result) {
  std::optional<std::string> name = expect_literal_text(*args[0], "getopt");
  if (!name) return unknown_type();
  const ExprInfo* fallback = args.size() > 1 ? &info(*args[1]) : nullptr;
  if (fallback && !fallback->value && !fallback->text) {
    error(args[1]->span, "the default of getopt() must be a literal");
    return unknown_type();
  }
  Type type = fallback ? fallback->type : bool_type();
  if (is(type, Kind::Int)) type = int_type(8, true);
  auto known = std::find_if(program_.options.begin(), program_.options.end(),
                            [&](const ScriptOption& o) { return o.name == *name; });
  if (args.size() > 2) expect_literal_text(*args[2], "getopt");
  if (known == program_.options.end())
    program_.options.push_back(
        {*name, args.size() > 2 ? info(*args[2]).text.value_or("") : "", type});
  auto given = std::find_if(options_.named.begin(), options_.named.end(),
                            [&](const auto& o) { return o.first == *name; });
  bool is_given = given != options_.named.end();
  std::string value = is_given ? given->second.value_or("true") : "";
  if (is(type, Kind::String)) {
    result.text = is_given ? value : *fallback->text;
    return string_type(static_cast<uint32_t>(result.text->size() + 1));
  }
  if (is(type, Kind::Bool)) {
    if (is_given && value != "true" && value != "false" && value != "1" && value != "0")
      error(expr.span,
            fmt::format("option --{} takes 'true' or 'false', found '{}'", *name, value));
    result.value = is_given ? (value == "true" || value == "1") : fallback ? *fallback->value : 0;
    return type;
  }
  std::optional<int64_t> number = is_given ? parse_number(value) : fallback->value;
  if (!number && !given->second)
    error(expr.span, fmt::format("option --{0} takes an integer, as in --{0}=5", *name));
  else if (!number)
    error(expr.span, fmt::format("option --{} takes an integer, found '{}'", *name, value));
  result.value = number.value_or(0);
  return type;
}

}  // namespace flowtap
