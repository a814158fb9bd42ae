// Loops. The kernel runs them: the body is a function that bpf_loop or bpf_for_each_map_elem
// calls back, so that the verifier has to look at it once and every loop is bounded. A body
// answers 0 to go on and 1 to stop.

#include <linux/bpf.h>

#include "lower/lowering.h"

namespace flowtap {

// bpf_loop refuses more rounds than this.
static constexpr int64_t kMostRounds = 1 << 23;
// A `while` has no count of its own; this many rounds take a few milliseconds.
static constexpr int64_t kMostWhileRounds = 1 << 20;

ir::Operand Lowering::frame_pointer() {
  return reg(in_callback_ ? frame_base_ : b().address_of(ir::in_slot(frame_slot_)));
}

int32_t Lowering::lower_callback(const Stmt& stmt, uint32_t params, uint32_t context_param,
                                 const std::function<void(const std::vector<Reg>&)>& body) {
  int32_t number = static_cast<int32_t>(program_.functions.size());
  int32_t parent = b().function();
  program_.functions.push_back({.name = program_.name + "_loop" + std::to_string(number),
                                .params = params,
                                .parent = parent});
  std::unique_ptr<ir::Builder> outer = std::move(builder_);
  Reg outer_frame = frame_base_;
  bool was_in_callback = in_callback_;
  builder_ = std::make_unique<ir::Builder>(program_, number);
  b().set_span(stmt.span);
  std::vector<Reg> arguments;
  for (uint32_t i = 0; i < params; i++) arguments.push_back(b().param(i));
  frame_base_ = arguments[context_param];
  in_callback_ = true;
  int own = instance_.loop_functions.at(&stmt);
  zero_variables(own);
  body(arguments);
  b().ret(imm(0));
  b().finish();
  leave_homes(own);
  builder_ = std::move(outer);
  frame_base_ = outer_frame;
  in_callback_ = was_in_callback;
  return number;
}

// A `return` in the body ends the probe or function around it, not only the loop.
void Lowering::leave_if_returned() {
  int32_t leave = b().new_block(), go_on = b().new_block();
  Reg returned = load_cell(frame_cell(1));
  b().branch(ir::Compare::Ne, reg(returned), imm(0), leave, go_on);
  b().start(leave);
  if (open_.call && open_.in == b().function()) {
    int32_t end_function = b().new_block(), end_probe = b().new_block();
    b().branch(ir::Compare::Eq, reg(returned), imm(kFunctionEnds), end_function, end_probe);
    b().start(end_function);
    b().store(frame_cell(1), 8, imm(0));
    b().jump(open_.end);
    b().start(end_probe);
  }
  if (in_callback_)
    b().ret(imm(1));
  else if (instance_.kind == ProbeKind::Test)
    b().ret(reg(b().alu(ir::Alu::Shr, reg(returned), imm(1))));
  else
    b().ret(imm(0));
  b().start(go_on);
}

void Lowering::lower_while(const Stmt& stmt, const While& loop) {
  int32_t function = lower_callback(stmt, 2, 1, [&](const std::vector<Reg>&) {
    int32_t round = b().new_block(), stop = b().new_block();
    lower_condition(*loop.condition, round, stop);
    b().start(stop);
    b().ret(imm(1));
    b().start(round);
    lower_block(loop.body);
  });
  Reg rounds = b().call(
      BPF_FUNC_loop, {imm(kMostWhileRounds), reg(b().callback(function)), frame_pointer(), imm(0)});
  int32_t limit = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::SGe, reg(rounds), imm(kMostWhileRounds), limit, done);
  b().start(limit);
  note_site(SiteKind::LoopLimit, "while", imm(kMostWhileRounds));
  b().jump(done);
  b().start(done);
  leave_if_returned();
}

void Lowering::lower_for_range(const Stmt& stmt, const ForRange& loop) {
  Operand begin = lower_scalar(*loop.begin);
  Operand end = lower_scalar(*loop.end);
  int variable = instance_.declares.at(&stmt);
  Reg count = b().alu(ir::Alu::Sub, end, begin);
  b().store(range_start(variable), 8, begin);
  int32_t function = lower_callback(stmt, 2, 1, [&](const std::vector<Reg>& args) {
    Reg first = b().load(range_start(variable), 8);
    Reg index = b().extend(reg(args[0]), 4, false);
    store_variable(variable,
                   scalar(int_type(8, true), reg(b().alu(ir::Alu::Add, reg(first), reg(index)))));
    lower_block(loop.body);
  });
  int32_t check = b().new_block(), limit = b().new_block(), run = b().new_block(),
          done = b().new_block();
  Reg rounds = b().new_reg();
  b().assign(rounds, reg(count));
  b().branch(ir::Compare::SGt, end, begin, check, done);
  b().start(check);
  b().branch(ir::Compare::Gt, reg(count), imm(kMostRounds), limit, run);
  b().start(limit);
  note_site(SiteKind::LoopLimit, "for", reg(count));
  b().assign(rounds, imm(kMostRounds));
  b().jump(run);
  b().start(run);
  b().call(BPF_FUNC_loop, {reg(rounds), reg(b().callback(function)), frame_pointer(), imm(0)});
  b().jump(done);
  b().start(done);
  leave_if_returned();
}

void Lowering::lower_for_map(const Stmt& stmt, const ForMap& loop) {
  int number = info(*loop.map).map;
  const MapInfo& map = image_.checked().maps[static_cast<size_t>(number)];
  int variable = instance_.declares.at(&stmt);
  take_hot_keys(number);
  const Type& pair = image_.checked().variables[static_cast<size_t>(variable)].type;
  int32_t function = lower_callback(stmt, 4, 3, [&](const std::vector<Reg>& args) {
    Address to = variable_address(variable);
    Address whole = whole_key(number, args[1]);
    Location key{.type = map.key, .space = AddressSpace::Bpf, .address = whole};
    store(read(key), to + pair->fields[0].offset, pair->fields[0].type);
    Value value =
        is_aggregation(map.value)
            ? sum_over_cpus(map, number, ir::at(args[1]))
            : read({.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(args[2])});
    if (is(value.type, Kind::Stats)) value.type = pair->fields[1].type;
    store(value, to + pair->fields[1].offset, pair->fields[1].type);
    lower_block(loop.body);
  });
  b().call(BPF_FUNC_for_each_map_elem, {reg(b().map_pointer(image_.script_map(number))),
                                        reg(b().callback(function)), frame_pointer(), imm(0)});
  leave_if_returned();
}

}  // namespace flowtap
