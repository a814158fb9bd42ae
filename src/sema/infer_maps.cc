// Functions on maps, and aggregations; see infer_maps.h.

#include "sema/infer_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "types/format.h"

namespace flowtap {

static Type make_aggregation(TypeData data) {
  return std::make_shared<const TypeData>(std::move(data));
}

static constexpr uint32_t kMostBuckets = 1000;

Type MapFunctions::aggregation_type(const Expr& expr, const Builtin& builtin,
                                    const std::vector<ExprPtr>& args) {
  if (&expr != place_.aggregate) {
    error(expr.span, fmt::format("{}() must be assigned directly to a map", builtin.name));
    return unknown_type();
  }
  if (builtin.id == Fn::Count) return simple_type(Kind::Count, 8);
  if (!arguments_.expect_integer(*args[0], builtin.name)) return unknown_type();
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
    int64_t bits =
        args.size() > 1 ? arguments_.expect_literal_number(*args[1], "hist").value_or(0) : 0;
    if (args.size() > 1 && !arguments_.expect_within(*args[1], "the bits of hist()", 0, 5))
      bits = 0;
    data.bits = static_cast<uint32_t>(bits);
    data.size = 8 * hist_buckets(data);
    return make_aggregation(std::move(data));
  }
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < args.size() && i < 4; i++) {
    if (i == 3 && builtin.id == Fn::Tseries) break;
    std::optional<int64_t> number = arguments_.expect_literal_number(*args[i], builtin.name);
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
  data.interval = numbers[0];
  data.intervals = static_cast<uint32_t>(std::clamp<int64_t>(numbers[1], 1, kMostBuckets));
  arguments_.expect_within(*args[1], "the interval of tseries()", 1, INT64_MAX);
  arguments_.expect_within(*args[2], "the number of intervals of tseries()", 1, kMostBuckets);
  if (args.size() > 3) {
    std::optional<std::string> how = arguments_.expect_literal_text(*args[3], "tseries");
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
  data.size = data.intervals * kTseriesBucketSize;
  return make_aggregation(std::move(data));
}

const Expr* MapFunctions::expect_map(const Expr& arg, std::string_view function) {
  if (std::holds_alternative<MapAccess>(arg.node)) return &arg;
  error(arg.span, fmt::format("{}() takes a map here", function));
  return nullptr;
}

Type MapFunctions::map_function_type(const Expr& expr, const Builtin& builtin,
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
  MapInfo& map = stores_.reach_map(*access);
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
      else if (builtin.id == Fn::Len && map.is_scalar == true)
        error(access->span, fmt::format("len() counts keys, and '{}' has none", map.name));
      else if (builtin.id == Fn::Len)
        stores_.use_map(*access, true);
      return builtin.id == Fn::Len ? int_type(8, true) : none_type();
    case Fn::Delete:
      if (args.size() == 2) {
        stores_.use_map(*access, true);
        stores_.use_key(map, *args[1]);
      } else {
        stores_.use_map(*access, own_key != nullptr);
      }
      return bool_type();
    case Fn::HasKey:
      stores_.use_map(*access, true);
      stores_.use_key(map, *args[1]);
      return bool_type();
    case Fn::Find: {
      stores_.use_map(*access, true);
      stores_.use_key(map, *args[1]);
      if (!std::holds_alternative<Variable>(args[2]->node))
        error(args[2]->span, "find() stores into a variable");
      else if (VariableId variable = info(*args[2]).variable;
               variable.is_set() && !is(map.value, Kind::Unknown))
        stores_.assign_variable_type(variable, {readable(map.value)}, args[2]->span);
      return bool_type();
    }
    default: UNREACHABLE("a function on maps that is not checked");
  }
}

}  // namespace flowtap
