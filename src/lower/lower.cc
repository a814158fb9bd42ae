// Lowering of a whole script and the frame of each program; see lower.h.

#include "lower/lower.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include "builtins/builtins.h"
#include "builtins/probes.h"
#include "lang/walk.h"
#include "lower/lowering.h"
#include "sema/unify.h"

namespace flowtap {

Lowering::Lowering(ImageBuilder& image, const Instance& instance, Program& out,
                   ir::Program& program)
    : image_(image), instance_(instance), out_(out), program_(program) {}

Type Lowering::type_of(const Expr& expr) const { return readable(info(expr).type); }

void Lowering::run() {
  program_.functions.push_back({.name = program_.name, .params = 1});
  builder_ = std::make_unique<ir::Builder>(program_, 0);
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

void Lowering::lower_probe() {
  if (instance_.predicate) {
    int32_t go_on = b().new_block(), leave = b().new_block();
    lower_condition(*instance_.predicate, go_on, leave);
    b().start(leave);
    b().ret(imm(0));
    b().start(go_on);
  }
  lower_block(instance_.body);
}

bool Lowering::uses_sides() const {
  bool found = false;
  ExprVisitor look = [&](const Expr& expr) {
    int map = info(expr).map;
    found |= map >= 0 && image_.has_sides(map);
  };
  if (instance_.predicate) for_each_expr(*instance_.predicate, look);
  for_each_expr(instance_.body, look);
  return found;
}

// A program decides once which side of the maps it uses, so that all that it does with one event
// comes into one report. The code is there twice: each map is then known when it is loaded.
void Lowering::lower_on_sides() {
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

// Loop bodies are functions of their own; what they share with the program lies in one frame on
// its stack:  | context | return flag | captured variables ... |
void Lowering::start_program() {
  ctx_ = b().param(0);
  forgets_ = instance_.functions > 1 || has_many_choices();
  for (size_t v = instance_.first_variable; v < instance_.end_variable; v++)
    choose_home(static_cast<int>(v));
  for (const auto& [stmt, variable] : instance_.declares)
    if (std::holds_alternative<ForRange>(stmt->node)) choose_start(variable);
  if (forgets_ || frame_cells_ > kFirstCell) {
    frame_slot_ = b().new_slot(static_cast<uint32_t>(frame_cells_) * 8, ir::Place::Stack);
    b().store(ir::in_slot(frame_slot_), 8, reg(ctx_));
    for (int cell = 1; cell < frame_cells_; cell++)
      b().store(ir::in_slot(frame_slot_, cell * 8), 8, imm(0));
  }
  zero_variables(0);
}

// Few programs have so many variables that registers and stack cannot hold them; the rest of
// those lies in slots, which may be put elsewhere.
static constexpr int kMostInFrame = 24, kMostInRegisters = 32;

void Lowering::choose_start(int number) {
  Home& home = homes_[number];
  if (frame_cells_ < kMostInFrame)
    home.start_cell = frame_cells_++;
  else
    home.start_slot = b().new_slot(8, ir::Place::Scratch);
}

void Lowering::choose_home(int number) {
  const VariableInfo& variable = image_.checked().variables[static_cast<size_t>(number)];
  if (!is_scalar(variable.type) || variable.is_merged) return;
  bool can_move = variable.type->space != AddressSpace::Context;
  Home& home = homes_[number];
  if (variable.is_captured && (frame_cells_ < kMostInFrame || !can_move))
    home.cell = frame_cells_++;
  else if (variable.is_captured)
    home.slot = b().new_slot(8, ir::Place::Scratch);
  else if (++in_registers_ > kMostInRegisters && can_move)
    home.is_in_memory = true;
}

void Lowering::zero_variables(int function) {
  for (size_t v = instance_.first_variable; v < instance_.end_variable; v++) {
    const VariableInfo& variable = image_.checked().variables[v];
    if (!variable.needs_zero || variable.function != function || is(variable.type, Kind::Unknown))
      continue;
    zero_variable(static_cast<int>(v));
  }
}

// Kernels without kprobe_multi take a wildcard's functions one by one, and let go of them just as
// slowly: tens of milliseconds each. A program that does nothing any more need not be waited for.
static bool wants_gate(const Instance& instance, const Target& target) {
  constexpr size_t kMany = 32;
  bool is_function = instance.kind == ProbeKind::Kprobe || instance.kind == ProbeKind::Kretprobe;
  return is_function && instance.attach.size() >= kMany && !target.has(Feature::KprobeMulti);
}

void Lowering::stop_at_gate() {
  if (!out_.is_gated) return;
  int32_t go_on = b().new_block(), leave = b().new_block();
  Reg gate = b().load(ir::at(b().map_value(image_.gate())), 8);
  b().branch(ir::Compare::Eq, reg(gate), imm(0), go_on, leave);
  b().start(leave);
  b().ret(imm(0));
  b().start(go_on);
}

// User probes are attached for a process already. But when another tracer has put the same
// breakpoint into another process, Linux 6.1 runs our uretprobes for that one too.
void Lowering::filter_by_pid() {
  const ProbeRow& row = probe_row(instance_.kind);
  std::optional<int> only = row.has(kFilteredByPid) ? image_.options().pid
                            : row.has(kUserSpace)   ? image_.options().user_pid
                                                    : std::nullopt;
  if (!only) return;
  int32_t go_on = b().new_block(), leave = b().new_block();
  Operand pid = lower_pid({}, false);
  b().branch(ir::Compare::Eq, pid, imm(*only), go_on, leave);
  b().start(leave);
  b().ret(imm(0));
  b().start(go_on);
}

// After the last object the kernel calls once more, with a null pointer in its place.
void Lowering::skip_end_of_iterator() {
  if (instance_.kind != ProbeKind::Iter) return;
  for (const Field& field : instance_.args->fields) {
    if (!is(field.type, Kind::Pointer) || field.name == "meta") continue;
    int32_t go_on = b().new_block(), leave = b().new_block();
    Reg object = b().load(ir::at(ctx_, static_cast<int32_t>(field.offset)), 8);
    b().branch(ir::Compare::Ne, reg(object), imm(0), go_on, leave);
    b().start(leave);
    b().ret(imm(0));
    b().start(go_on);
    return;
  }
}

// The call that is a whole statement, when it is an action; else null.
static const Builtin* action_of(const Stmt& stmt) {
  const ExprStmt* whole = std::get_if<ExprStmt>(&stmt.node);
  const Call* call = whole ? std::get_if<Call>(&whole->expr->node) : nullptr;
  const Builtin* builtin = call ? find_builtin(call->name) : nullptr;
  return builtin && builtin->has(kAction) ? builtin : nullptr;
}

// `print(@m); clear(@m);` is one action: what happens between the two would be lost. Other actions
// may stand between them.
void Lowering::join_reports(const Block& block) {
  auto whole_map = [&](size_t at, Fn wanted) -> const Expr* {
    const Builtin* action = action_of(*block.stmts[at]);
    if (!action || action->id != wanted) return nullptr;
    const Expr& subject =
        *std::get<Call>(std::get<ExprStmt>(block.stmts[at]->node).expr->node).args[0];
    const MapAccess* access = std::get_if<MapAccess>(&subject.node);
    return access && !access->key ? &subject : nullptr;
  };
  for (size_t i = 0; i < block.stmts.size(); i++) {
    const Expr* printed = whole_map(i, Fn::Print);
    for (size_t j = i + 1; printed && j < block.stmts.size(); j++) {
      const Builtin* action = action_of(*block.stmts[j]);
      const Expr* again = whole_map(j, Fn::Print);
      const Expr* cleared = whole_map(j, Fn::Clear);
      bool is_cleared = cleared && info(*cleared).map == info(*printed).map;
      bool is_other =
          !action || action->id == Fn::Exit || (again && info(*again).map == info(*printed).map);
      if (is_cleared) taken_.insert({printed, cleared});
      if (is_cleared || is_other) break;
    }
  }
}

void Lowering::lower_block(const Block& block) {
  join_reports(block);
  for (const StmtPtr& stmt : block.stmts) lower_stmt(*stmt);
}

ir::Reg Lowering::ctx() { return in_callback_ ? b().load(frame_cell(0), 8) : ctx_; }

static std::string program_name(const Instance& instance, size_t number) {
  std::string name;
  for (char c : instance.attach[0].name) {
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_plain ? c : '_';
  }
  return fmt::format("{}_{}", name, number);
}

// For messages: how a probe on a function was made when not as it was written.
static const char* relative_name(ProgramType type) {
  return type == ProgramType::Fentry ? "fentry" : type == ProgramType::Fexit ? "fexit" : "kprobe";
}

Lowered lower(const CheckedProgram& checked, const Target& target, const LowerOptions& options) {
  ImageBuilder image(checked, target, options);
  Lowered out;
  std::vector<Program> programs;
  for (const std::unique_ptr<Instance>& instance : checked.instances) {
    Program program;
    program.name = program_name(*instance, programs.size());
    program.type = instance->program;
    if (program.type != probe_row(instance->kind).program)
      program.made_as = relative_name(program.type);
    program.attach = instance->attach;
    program.attach_btf_id = instance->attach_btf_id;
    program.attach_module = instance->attach_module;
    program.is_gated = wants_gate(*instance, target);
    ir::Program code{.name = program.name};
    code.cpus = image.cpus();
    Lowering(image, *instance, program, code).run();
    code.scratch_map = image.scratch(program.name);
    programs.push_back(std::move(program));
    out.programs.push_back(std::move(code));
  }
  for (size_t i = 0; i < checked.maps.size(); i++) {
    if (image.local_storage(static_cast<int>(i)) < 0) continue;
    Result<FunctionSignature> tasks = target.iterator("task");
    CHECK(tasks.ok());
    Program program{.name = fmt::format("dump_{}", i), .type = ProgramType::Iter};
    program.attach_btf_id = tasks->btf_id;
    ir::Program code{.name = program.name};
    code.cpus = image.cpus();
    Instance nobody;
    Lowering(image, nobody, program, code).run_dump(static_cast<int>(i));
    code.scratch_map = image.scratch(program.name);
    image.image().dumps.push_back(programs.size());
    programs.push_back(std::move(program));
    out.programs.push_back(std::move(code));
  }
  image.fit_ring_buffer();
  out.image = std::move(image.image());
  out.image.programs = std::move(programs);
  return out;
}

}  // namespace flowtap
