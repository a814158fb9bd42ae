// Choosing between a kprobe and fentry; see function_probe.h.

#include "sema/function_probe.h"

#include <algorithm>

#include "builtins/builtins.h"
#include "builtins/probes.h"
#include "lang/walk.h"

namespace flowtap {

namespace {

// What a probe asks of its context.
struct Uses {
  bool args = false;
  bool retval = false;
  bool registers = false;
  bool stack = false;    // shows how the probe was reached
  size_t arguments = 0;  // arg0..argN: how many there must be
};

Uses find_uses(const Probe& probe) {
  Uses uses;
  for_each_builtin(probe, [&](const Builtin& builtin, const std::string& name) {
    uses.registers |= builtin.has(kRegisters);
    switch (builtin.id) {
      case Fn::Args: uses.args = true; break;
      case Fn::Retval: uses.retval = true; break;
      case Fn::ArgN:
        uses.arguments = std::max(uses.arguments, static_cast<size_t>(argument_number(name)) + 1);
        break;
      case Fn::Kstack: uses.stack = true; break;
      default: break;
    }
  });
  return uses;
}

// One register per argument: no structs by value, no arguments on the stack.
bool is_simple(const FunctionSignature& signature, const Arch& arch) {
  if (signature.args.size() > arch.arguments.size()) return false;
  for (size_t i = 0; i < signature.args.size(); i++)
    if (signature.args[i].offset != 8 * i || signature.args[i].type->size > 8) return false;
  return true;
}

}  // namespace

void for_each_builtin(const Probe& probe, const BuiltinVisitor& visit) {
  ExprVisitor look = [&](const Expr& expr) {
    const Identifier* word = std::get_if<Identifier>(&expr.node);
    const Call* call = std::get_if<Call>(&expr.node);
    const std::string* name = word ? &word->name : call ? &call->name : nullptr;
    const Builtin* builtin = name ? find_builtin(*name) : nullptr;
    if (builtin) visit(*builtin, *name);
  };
  for_each_expr(probe.body, look);
  if (probe.predicate) for_each_expr(*probe.predicate, look);
}

std::optional<FunctionProbe> relative_of(const Probe& probe, const AttachPoint& point,
                                         const Target& target, const CheckOptions& options) {
  const ProbeRow& row = probe_row(point.kind);
  bool is_kprobe = row.program == ProgramType::Kprobe, is_return = row.has(kHasRetval);
  if (!options.swaps_function_probes || row.family != ProbeFamily::Function) return std::nullopt;
  if (point.offset != 0 || point.kernel_address || point.namesake >= 0) return std::nullopt;
  if (point.target.starts_with(kBpfModule)) return std::nullopt;
  bool is_wanted = is_kprobe ? target.has(Feature::Fentry)
                             : !target.has(Feature::Fentry) && target.has(Feature::Kprobes);
  if (!is_wanted) return std::nullopt;
  Result<FunctionSignature> signature = target.kernel_function(point.target, point.function);
  if (!signature || !is_simple(*signature, target.arch())) return std::nullopt;
  // fentry would go to one of them, and not say to which.
  if (is_kprobe && target.is_shared_name(point.target, point.function)) return std::nullopt;

  Uses uses = find_uses(probe);
  if (is_kprobe && uses.stack && target.has(Feature::Kprobes)) return std::nullopt;
  bool has_no_result = uses.retval && is(signature->result, Kind::None);
  bool is_lacking = !is_kprobe  ? is_return && uses.args  // gone when the function returns
                    : is_return ? uses.registers || has_no_result
                                : uses.registers || uses.arguments > signature->args.size();
  if (is_lacking) return std::nullopt;
  ProgramType type = !is_kprobe  ? ProgramType::Kprobe
                     : is_return ? ProgramType::Fexit
                                 : ProgramType::Fentry;
  return FunctionProbe{type, std::move(*signature)};
}

}  // namespace flowtap
