// Calls that are constants; see infer_folded.h.

#include "sema/infer_folded.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "builtins/probes.h"
#include "types/format.h"

namespace flowtap {

// What `probetype` reads: probes that are no event of the kernel share one name.
std::string_view probe_type_name(ProbeKind kind) {
  return probe_row(kind).is_special() ? "special" : probe_row(kind).name;
}

Type FoldedCalls::getopt_type(const Expr& expr, const std::vector<ExprPtr>& args,
                              ExprInfo& result) {
  const std::optional<std::string>& name = info(*args[0]).text;
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
  if (known == program_.options.end())
    program_.options.push_back(
        {*name, args.size() > 2 ? info(*args[2]).text.value_or("") : "", type});
  auto given = std::find_if(input_.options.named.begin(), input_.options.named.end(),
                            [&](const auto& o) { return o.first == *name; });
  bool is_given = given != input_.options.named.end();
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

// The text of fail("format", literals...).
std::string FoldedCalls::fail_message(const std::vector<ExprPtr>& args) {
  const std::optional<std::string>& format = info(*args[0]).text;
  Result<std::vector<FormatPiece>> pieces = parse_format(format.value_or(""));
  if (!format || !pieces) return "fail() was reached";
  std::string out;
  size_t next = 1;
  for (const FormatPiece& piece : *pieces) {
    out += piece.literal;
    if (piece.conversion == Conversion::None) continue;
    if (next == args.size()) break;
    const ExprInfo& value = info(*args[next++]);
    if (value.text)
      out += *value.text;
    else if (value.value)
      out += std::to_string(*value.value);
    else
      out += "?";
  }
  return out;
}

// Calls that are a constant at compile time; true when this was one.
bool FoldedCalls::infer_folded(const Expr& expr, const Builtin& builtin,
                               const std::vector<ExprPtr>& args, ExprInfo& result) {
  auto yes_no = [&](bool value) {
    info(expr).type = bool_type();
    info(expr).value = value;
    return true;
  };
  switch (builtin.id) {
    case Fn::IsPtr: return yes_no(is(info(*args[0]).type, Kind::Pointer));
    case Fn::IsStr: return yes_no(is(info(*args[0]).type, Kind::String));
    case Fn::IsArray: return yes_no(is(info(*args[0]).type, Kind::Array));
    case Fn::IsInteger: return yes_no(is(info(*args[0]).type, Kind::Int));
    case Fn::IsUnsignedInteger:
      return yes_no(is(info(*args[0]).type, Kind::Int) && !info(*args[0]).type->is_signed);
    case Fn::InPrefix: return info(*args[1]).text == "" && yes_no(true);
    case Fn::IsLiteral: {
      const Expr& arg = *args[0];
      return yes_no(std::holds_alternative<IntegerLiteral>(arg.node) ||
                    std::holds_alternative<StringLiteral>(arg.node) ||
                    std::holds_alternative<BoolLiteral>(arg.node));
    }
    case Fn::ProbeName:
      if (place_.instance->attach.size() == 1) result.text = place_.instance->attach[0].name;
      return false;
    case Fn::ProbeType:
      result.text = std::string(probe_type_name(place_.instance->kind));
      return false;
    case Fn::Getopt: result.type = getopt_type(expr, args, result); return true;
    case Fn::Ncpus: result.value = input_.target.cpus(); return false;
    case Fn::HasCpid: result.value = input_.options.child_pid.has_value(); return false;
    case Fn::Cpid: result.value = input_.options.child_pid.value_or(0); return false;
    case Fn::Strcap:
      if (is(info(*args[0]).type, Kind::String))
        set_constant(result, info(*args[0]).type->size, true);
      else
        arguments_.expect_string(*args[0], "strcap"), info(expr).type = int_type(8, false);
      return true;
    case Fn::Kaddr: {
      const std::optional<std::string>& symbol = info(*args[0]).text;
      std::optional<uint64_t> address =
          symbol ? input_.target.kernel_symbol(*symbol) : std::nullopt;
      if (symbol && !address)
        error(args[0]->span, fmt::format("the kernel has no symbol '{}'", *symbol));
      info(expr).type = int_type(8, false);
      if (address) info(expr).value = static_cast<int64_t>(*address);
      return true;
    }
    case Fn::Cgroupid: {
      const std::optional<std::string>& path = info(*args[0]).text;
      std::optional<uint64_t> id = path ? input_.target.cgroup_id(*path) : std::nullopt;
      if (path && !id) error(args[0]->span, fmt::format("'{}' is not a cgroup", *path));
      info(expr).type = int_type(8, false);
      if (id) info(expr).value = static_cast<int64_t>(*id);
      return true;
    }
    case Fn::KfuncExist: {
      const std::optional<std::string>& name = info(*args[0]).text;
      return yes_no(name && input_.target.kfunc_id(*name).has_value());
    }
    case Fn::KfuncAllowed: {
      const std::optional<std::string>& name = info(*args[0]).text;
      return yes_no(name &&
                    input_.target.can_call_kfunc(*name, probe_row(place_.instance->kind).program));
    }
    case Fn::StaticAssert: {
      std::optional<int64_t> condition =
          arguments_.expect_literal_number(*args[0], "static_assert");
      const std::optional<std::string>& text = info(*args[1]).text;
      if (condition && !*condition && text)
        error(expr.span, fmt::format("static_assert failed: {}", *text));
      info(expr).type = none_type();
      return true;
    }
    case Fn::Fail:
      error(expr.span, fail_message(args));
      info(expr).type = none_type();
      return true;
    default: return false;
  }
}

}  // namespace flowtap
