// What every program begins with, and the probe's predicate and body; see probe_lowering.h.

#include "lower/probe_lowering.h"

#include "builtins/probes.h"
#include "lang/walk.h"

namespace flowtap {

void ProbeLowering::run() {
  b().set_span(instance_.span);
  start_program();
  stop_at_gate();
  filter_by_pid();
  skip_end_of_iterator();
  if (uses_sides())
    lower_on_sides();
  else
    lower_probe();
  b().finish();
}

void ProbeLowering::lower_probe() {
  if (instance_.predicate) {
    int32_t go_on = b().new_block(), leave = b().new_block();
    expressions_.lower_condition(*instance_.predicate, go_on, leave);
    b().start(leave);
    b().ret(imm(0));
    b().start(go_on);
  }
  statements_.lower_block(instance_.body);
}

bool ProbeLowering::uses_sides() const {
  bool found = false;
  ExprVisitor look = [&](const Expr& expr) {
    MapId map = info(expr).map;
    found |= map.is_set() && image_.has_sides(map);
  };
  if (instance_.predicate) for_each_expr(*instance_.predicate, look);
  for_each_expr(instance_.body, look);
  return found;
}

// A program decides once which side of the maps it uses, so that all that it does with one event
// comes into one report. The code is there twice: each map is then known when it is loaded.
void ProbeLowering::lower_on_sides() {
  int32_t first = b().new_block(), second = b().new_block();
  Reg turn = b().load(ir::at(b().map_value(image_.turn())), 8);
  bool is_first = !is_report(instance_);
  b().branch(ir::Compare::Eq, reg(turn), imm(0), is_first ? first : second,
             is_first ? second : first);
  b().start(first);
  lower_probe();
  b().ret(imm(0));
  b().start(second);
  image_.choose_side(1);
  lower_probe();
  image_.choose_side(0);
}

void ProbeLowering::start_program() {
  frame_.begin(b().param(0), instance_.functions > 1 || has_many_choices());
  variables_.choose_homes();
  frame_.make();
  variables_.zero_variables(0);
}

void ProbeLowering::stop_at_gate() {
  if (!out_.is_gated) return;
  int32_t go_on = b().new_block(), leave = b().new_block();
  Reg gate = b().load(ir::at(b().map_value(image_.gate())), 8);
  if (out_.waits_for_all)
    b().branch(ir::Compare::Eq, reg(gate), imm(static_cast<int64_t>(Gate::Open)), go_on, leave);
  else
    b().branch(ir::Compare::Eq, reg(gate), imm(static_cast<int64_t>(Gate::Over)), leave, go_on);
  b().start(leave);
  b().ret(imm(0));
  b().start(go_on);
}

// User probes are attached for a process already. But when another tracer has put the same
// breakpoint into another process, Linux 6.1 runs our uretprobes for that one too.
void ProbeLowering::filter_by_pid() {
  const ProbeRow& row = probe_row(instance_.kind);
  std::optional<int> only = row.has(kFilteredByPid) ? image_.options().pid
                            : row.has(kUserSpace)   ? image_.options().user_pid
                                                    : std::nullopt;
  if (!only) return;
  int32_t go_on = b().new_block(), leave = b().new_block();
  Operand pid = tasks_.lower_pid({}, false);
  b().branch(ir::Compare::Eq, pid, imm(*only), go_on, leave);
  b().start(leave);
  b().ret(imm(0));
  b().start(go_on);
}

// After the last object the kernel calls once more, with a null pointer in its place.
void ProbeLowering::skip_end_of_iterator() {
  if (instance_.program != ProgramType::Iter) return;
  for (const Field& field : instance_.args->fields) {
    if (!is(field.type, Kind::Pointer) || field.name == "meta") continue;
    int32_t go_on = b().new_block(), leave = b().new_block();
    Reg object = b().load(ir::at(frame_.ctx(), static_cast<int32_t>(field.offset)), 8);
    b().branch(ir::Compare::Ne, reg(object), imm(0), go_on, leave);
    b().start(leave);
    b().ret(imm(0));
    b().start(go_on);
    return;
  }
}

// The verifier follows every way through a program for as long as it knows something that could
// matter, and looks at a loop anew for all that it may know when it comes there. A dozen choices
// are too much then: in programs that have many, or loops, it had better know nothing of numbers.
bool ProbeLowering::has_many_choices() const {
  constexpr int kMany = 64;  // expressions
  int found = 0;
  auto count = [&](const Expr&) { found++; };
  for_each_expr(instance_.body, count);
  if (instance_.predicate) for_each_expr(*instance_.predicate, count);
  return found > kMany || instance_.has_unroll;
}

}  // namespace flowtap
