// Loops. The kernel runs them: the body is a function that bpf_loop or bpf_for_each_map_elem
// calls back, so that the verifier has to look at it once and every loop is bounded. A body
// answers 0 to go on and 1 to stop.

#include "lower/loops.h"

#include <linux/bpf.h>

namespace flowtap {

// bpf_loop refuses more rounds than this.
static constexpr int64_t kMostRounds = 1 << 23;

// A `while` has no count of its own; this many rounds take a few milliseconds.
static constexpr int64_t kMostWhileRounds = 1 << 20;

int32_t Loops::lower_callback(const Stmt& stmt, uint32_t params, uint32_t context_param,
                              const std::function<void(const std::vector<Reg>&)>& body) {
  int own = instance_.loop_functions.at(&stmt);
  return code_.add_function("_loop", params, [&] {
    b().set_span(stmt.span);
    std::vector<Reg> arguments;
    for (uint32_t i = 0; i < params; i++) arguments.push_back(b().param(i));
    uses_.frame.enter_callback(arguments[context_param], [&] {
      uses_.variables.zero_variables(own);
      body(arguments);
      b().ret(imm(0));
    });
    uses_.variables.leave_homes(own);
  });
}

void Loops::lower_while(const Stmt& stmt, const While& loop) {
  int32_t function = lower_callback(stmt, 2, 1, [&](const std::vector<Reg>&) {
    int32_t round = b().new_block(), stop = b().new_block();
    uses_.expressions.lower_condition(*loop.condition, round, stop);
    b().start(stop);
    b().ret(imm(1));
    b().start(round);
    uses_.blocks.lower_block(loop.body);
  });
  Reg rounds = b().call(BPF_FUNC_loop, {imm(kMostWhileRounds), reg(b().callback(function)),
                                        uses_.frame.frame_pointer(), imm(0)});
  int32_t limit = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::SGe, reg(rounds), imm(kMostWhileRounds), limit, done);
  b().start(limit);
  note_site(SiteKind::LoopLimit, "while", imm(kMostWhileRounds));
  b().jump(done);
  b().start(done);
  uses_.functions.leave_if_returned();
}

void Loops::lower_for_range(const Stmt& stmt, const ForRange& loop) {
  Operand begin = uses_.expressions.lower_scalar(*loop.begin);
  Operand end = uses_.expressions.lower_scalar(*loop.end);
  VariableId variable = instance_.declares.at(&stmt);
  Reg count = b().alu(ir::Alu::Sub, end, begin);
  b().store(uses_.variables.range_start(variable), 8, begin);
  int32_t function = lower_callback(stmt, 2, 1, [&](const std::vector<Reg>& args) {
    Reg first = b().load(uses_.variables.range_start(variable), 8);
    Reg index = b().extend(reg(args[0]), 4, false);
    uses_.variables.store_variable(
        variable, scalar(int_type(8, true), reg(b().alu(ir::Alu::Add, reg(first), reg(index)))));
    uses_.blocks.lower_block(loop.body);
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
  b().call(BPF_FUNC_loop,
           {reg(rounds), reg(b().callback(function)), uses_.frame.frame_pointer(), imm(0)});
  b().jump(done);
  b().start(done);
  uses_.functions.leave_if_returned();
}

void Loops::lower_for_map(const Stmt& stmt, const ForMap& loop) {
  MapId number = info(*loop.map).map;
  const MapInfo& map = image_.checked().maps[number];
  VariableId variable = instance_.declares.at(&stmt);
  uses_.hot_keys.take_hot_keys(number);
  const Type& pair = image_.checked().variables[variable].type;
  int32_t function = lower_callback(stmt, 4, 3, [&](const std::vector<Reg>& args) {
    Address to = uses_.variables.variable_address(variable);
    Address whole = uses_.large_keys.whole_key(number, args[1]);
    Location key{.type = map.key, .space = AddressSpace::Bpf, .address = whole};
    uses_.memory.store(uses_.memory.read(key), to + pair->fields[0].offset, pair->fields[0].type);
    Value value =
        is_aggregation(map.value)
            ? uses_.aggregations.sum_over_cpus(map, number, ir::at(args[1]))
            : uses_.memory.read(
                  {.type = map.value, .space = AddressSpace::Bpf, .address = ir::at(args[2])});
    if (is(value.type, Kind::Stats)) value.type = pair->fields[1].type;
    uses_.memory.store(value, to + pair->fields[1].offset, pair->fields[1].type);
    uses_.blocks.lower_block(loop.body);
  });
  b().call(BPF_FUNC_for_each_map_elem,
           {reg(b().map_pointer(image_.script_map(number))), reg(b().callback(function)),
            uses_.frame.frame_pointer(), imm(0)});
  uses_.functions.leave_if_returned();
}

}  // namespace flowtap
